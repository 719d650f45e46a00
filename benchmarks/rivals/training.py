"""Full-batch gradient descent on ½‖σ(Xw) − y‖² as people write it: in NumPy, in NumPy given K = XXᵀ, and in PyTorch."""

from __future__ import annotations

import numpy as np

from benchmarks.rivals import package
from relubias.linalg.gram import Array


def in_weights(features: Array, labels: Array, weights: Array, step_size: float, steps: int) -> Array:
    """A tidy loop over the weights; returns w."""
    for _ in range(steps):
        primal = features @ weights
        residual = np.maximum(primal, 0.0) - labels
        weights = weights - step_size * (features.T @ ((primal > 0) * residual))
    return weights


def in_weights_to(features: Array, labels: Array, weights: Array, step_size: float, small: float) -> Array:
    """The same until the loss of the positive labels is below `small`; returns w."""
    positive = labels > 0
    while True:
        primal = features @ weights
        residual = np.maximum(primal, 0.0) - labels
        if np.sum(np.square(residual[positive])) < small:
            return weights
        weights = weights - step_size * (features.T @ ((primal > 0) * residual))


def given_gram(gram: Array, labels: Array, primal: Array, step_size: float, steps: int) -> Array:
    """The same loop in n-vectors, for whoever knows that K is enough; returns β = Xw."""
    for _ in range(steps):
        active = primal > 0
        primal = primal - step_size * (gram @ (active * (primal - labels)))
    return primal


def by_autograd(features: Array, labels: Array, weights: Array, step_size: float, steps: int) -> Array:
    """PyTorch in double precision on the CPU, on one thread: the loss, its gradient by autograd, and plain SGD."""
    torch = package("torch", extra="bench-torch")
    torch.set_num_threads(1)
    inputs, targets = torch.from_numpy(features), torch.from_numpy(labels)
    parameter = torch.tensor(weights, requires_grad=True)
    optimiser = torch.optim.SGD([parameter], lr=step_size)
    for _ in range(steps):
        optimiser.zero_grad()
        loss = 0.5 * ((inputs @ parameter).relu() - targets).square().sum()
        loss.backward()
        optimiser.step()
    return np.asarray(parameter.detach().numpy())


def by_autograd_to(features: Array, labels: Array, weights: Array, step_size: float, small: float) -> Array:
    """The same until the loss of the positive labels is below `small`; returns w."""
    torch = package("torch", extra="bench-torch")
    torch.set_num_threads(1)
    inputs, targets = torch.from_numpy(features), torch.from_numpy(labels)
    positive = targets > 0
    parameter = torch.tensor(weights, requires_grad=True)
    optimiser = torch.optim.SGD([parameter], lr=step_size)
    while True:
        optimiser.zero_grad()
        residual = (inputs @ parameter).relu() - targets
        if residual.detach()[positive].square().sum() < small:
            return np.asarray(parameter.detach().numpy())
        loss = 0.5 * residual.square().sum()
        loss.backward()
        optimiser.step()
