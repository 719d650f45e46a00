"""What implicit bias is and what a ReLU does to it, for someone who has had linear algebra; with pictures.

The report and the manual have the same text: blocks, of which one makes HTML and the other Markdown.
"""

from __future__ import annotations

from relubias.report.html import Block, Heading, Picture, Text
from relubias.report.pictures import one_sample_off, patterns, solutions, two_views


def introduction() -> list[Block]:
    """The text with its pictures, which are drawn from runs that are made now."""
    return [*_many_solutions(), *_what_a_relu_does(), *_two_views(), *_how_far()]


def _many_solutions() -> list[Block]:
    return [
        Heading("Many solutions, and one that is found"),
        Text(
            "A linear model predicts xᵀw: one number for each sample x, from d weights w. Let there be n samples with "
            "labels y, and more weights than samples. Then the n equations xᵢᵀw = yᵢ leave d − n directions free: "
            "if the samples are linearly independent there are infinitely many w that fit all labels exactly, and "
            "nothing in the data prefers one of them."
        ),
        Text(
            "Gradient descent prefers one. It starts at a small w and takes steps w ← w − η Σ rᵢ xᵢ, where "
            "rᵢ = xᵢᵀw − yᵢ is what sample i is off and η is the size of the step. Every step is a combination of "
            "the samples. Started at 0, w therefore stays in the span of the samples, and there is exactly one "
            "solution in it: the one that is nearest to 0, because what could be added to it without changing a "
            "prediction is orthogonal to every sample, and would only make it longer. Nobody asked for the shortest "
            "solution; it comes with the algorithm. This is called the implicit bias of gradient descent."
        ),
        Picture(
            solutions(),
            "One sample in the plane: all w on the line fit its label; gradient descent goes along the sample to the "
            "point of the line that is nearest to 0.",
        ),
    ]


def _what_a_relu_does() -> list[Block]:
    return [
        Heading("What a ReLU does to it"),
        Text(
            "A ReLU neuron predicts σ(xᵀw) with σ(z) = max(z, 0). Where xᵀw > 0 the sample is active, and the "
            "neuron is a linear model; where xᵀw ≤ 0 it predicts 0, whatever w is exactly, and the sample does not "
            "move w. Which samples are active, the activation pattern, changes while w moves, and so does the set of "
            "samples that w is fitted to: it is no longer a linear problem."
        ),
        Text(
            "Labels differ too. A positive label can be fitted exactly. A negative one cannot, since the neuron never "
            "predicts less than 0: the best it can do is to predict 0, and for that every w with xᵀw ≤ 0 will do. So "
            "the best solutions satisfy equations xᵢᵀw = yᵢ for positive labels and inequalities xᵢᵀw ≤ 0 for the "
            "others. The shortest of them, called w* here, is what one would hope training to find."
        ),
        Text(
            "What training does, if all samples are active at first and d is large: the first step lowers the "
            "prediction of each sample with a negative label below 0. That sample is inactive from then on and moves "
            "nothing any more. What it has contributed to w in this one step stays, however, as nothing takes it back. "
            "So training ends near w* and not at it, and the distance is set by the size of the step."
        ),
        Picture(
            one_sample_off(),
            "Two samples in the plane, one with a negative label. Where it is inactive (grey), the rest of the line is "
            "the set of best solutions. The first step leaves a component along the second sample that stays.",
        ),
    ]


def _two_views() -> list[Block]:
    return [
        Heading("Two views of one run"),
        Text(
            "With more dimensions than one can draw, two sets of n numbers tell everything. Since all steps are "
            "combinations of samples, w = Σ αᵢ xᵢ: the dual view is α, how much of each sample is in w. The primal "
            "view is βᵢ = xᵢᵀw, what the neuron sees of each sample before σ. The two are connected by the matrix of "
            "inner products K with entries xᵢᵀxⱼ, as β = Kα. One step of training is αᵢ ← αᵢ − η rᵢ for active "
            "samples, and nothing for the others. Features do not occur in this at all but through K, so that "
            "the software computes with n numbers whatever d is, 10¹² included."
        ),
        Text(
            "If samples are nearly orthogonal, as random ones are in many dimensions, then K is nearly a multiple of "
            "the identity, and α and β are nearly the same picture. What differs is the theme of the theory: each "
            "sample also moves the others a little, and whether that can turn one of them on or off."
        ),
        Picture(
            two_views(),
            "Twelve samples. Positive labels (solid) are fitted. Negative ones (dashed) go below 0 in the first step; "
            "then their α stands still, and their β is moved by the others only.",
        ),
        Picture(
            patterns(),
            "Active samples (dark) over the steps. With many dimensions everything is decided at the first step: "
            "exactly the positive labels stay. With about as many dimensions as samples, some go astray.",
        ),
    ]


def _how_far() -> list[Block]:
    return [
        Heading("What is measured here"),
        Text(
            "How far training ends from w* is called the gap, ‖w − w*‖, and is given as it is and relative to ‖w*‖: "
            "when dimensions grow, w* itself becomes shorter, so that a gap that vanishes may still be the same "
            "fraction of w*. The letters below: n samples, d features, λ the eigenvalues of the covariance of the "
            "features, ‖λ‖₁ their sum (d for independent features of variance 1), d₂ = ‖λ‖₁²/Σ λⱼ² the effective "
            "dimension, η the step and c = η‖λ‖₁ the step in natural units, y₋ the negative labels."
        ),
        Text(
            "Claims are about random data, so that each is tested on many draws. Numbers come with 95 % intervals over "
            "independent draws, and with the number of draws. Limits of training are proven, not a loss that looks "
            "flat, but for other losses and for two trained layers, where no proof is known: there the state in which "
            "nothing moves beyond rounding is taken, and the section says so. A claim is called supported only if the "
            "same judgement rejects a negative control: data or a law for which the claim is false."
        ),
    ]
