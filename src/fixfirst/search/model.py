"""The model of the reward: an exact Gaussian process over orders, made of GPyTorch's parts and
fitted by BoTorch. The notation is that of `fixfirst.search.gaussian`.

Rewards are standardised before the fit, so that one set of priors fits every game. The known
errors of the evaluations stand in the likelihood as they are. Beside them the model learns one
more variance: two trainings for the same order end with different policies, and their rewards
differ by more than the errors of the evaluations.
"""

import contextlib
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from fixfirst.search.gaussian import Hyperparameters, Posterior
from fixfirst.workflow import distances

with warnings.catch_warnings():
    # A library below GPyTorch still compiles with torch.jit, which newer PyTorch calls old.
    warnings.simplefilter("ignore", DeprecationWarning)
    import torch
    from botorch.models.gpytorch import GPyTorchModel
    from botorch.optim.fit import fit_gpytorch_mll_scipy
    from gpytorch.constraints import GreaterThan  # type: ignore[import-untyped]
    from gpytorch.distributions import MultivariateNormal  # type: ignore[import-untyped]
    from gpytorch.kernels import Kernel, ScaleKernel  # type: ignore[import-untyped]
    from gpytorch.likelihoods import FixedNoiseGaussianLikelihood  # type: ignore[import-untyped]
    from gpytorch.means import ConstantMean  # type: ignore[import-untyped]
    from gpytorch.mlls import ExactMarginalLogLikelihood  # type: ignore[import-untyped]
    from gpytorch.models import ExactGP  # type: ignore[import-untyped]
    from gpytorch.priors import NormalPrior  # type: ignore[import-untyped]

# The priors, of standardised rewards: (middle, standard deviation of its logarithm).
LENGTH = (0.3, 1.0)  # exchanging neighbours among 5 groups is a distance of 0.1
SPREAD_SQUARED = (1.0, 1.0)
VARIATION_SQUARED = (0.02, 1.5)  # trainings differ less than orders, but by how much is open
CENTRE = (0.0, 1.0)  # a normal prior: mean and standard deviation

LEAST_NOISE = 1e-5  # a variance; what is smaller is lost in rounding
LEAST_SCALE = 1e-6  # of rewards that are all the same, beside the size of the rewards
STEPS = 200  # of the optimiser, at most; it needs some 20


def fit(ranks: np.ndarray, rewards: np.ndarray, errors: np.ndarray) -> Posterior:
    """What the rewards [n] and their standard errors [n] of orders [n, k] say of all orders, the
    hyperparameters being the likeliest ones.
    """
    _check(ranks, rewards, errors)
    centre, scale = _standard(rewards, errors)
    noise = np.maximum((errors / scale) ** 2, LEAST_NOISE)
    found = _likeliest(ranks, (rewards - centre) / scale, noise)
    given = Hyperparameters(
        length=found.length,
        spread=scale * found.spread,
        variation=scale * found.variation,
        centre=centre + scale * found.centre,
    )
    return Posterior(given, ranks, rewards, scale**2 * noise + given.variation**2)


def _check(ranks: np.ndarray, rewards: np.ndarray, errors: np.ndarray) -> None:
    if not len(ranks) == len(rewards) == len(errors) or not len(ranks):
        raise ValueError(
            f"{len(ranks)} orders, {len(rewards)} rewards and {len(errors)} errors make no model; "
            "give as many of each, and one at least"
        )
    for name, values in (("reward", rewards), ("error", errors)):
        if not np.isfinite(values).all():
            bad = values[~np.isfinite(values)][0]
            raise ValueError(f"{name} {bad} is no number that a model can be fitted to")
    if (errors < 0).any():
        raise ValueError(f"error {errors.min()} is negative; a standard error is 0 or more")


def _standard(rewards: np.ndarray, errors: np.ndarray) -> tuple[float, float]:
    """The mean of the rewards and the unit to measure them in: their standard deviation.

    Of one reward there is none, and that of two or three can be tiny by chance. So one more
    deviation is counted in: a quarter of the mean reward, for 0 is what a perfect defence gets.
    """
    mean = float(rewards.mean())
    squares = float(((rewards - mean) ** 2).sum()) + (mean / 4) ** 2
    scale = math.sqrt(squares / len(rewards))
    least = LEAST_SCALE * max(1.0, abs(mean))
    return mean, max(scale, float(np.sqrt((errors**2).mean())), least)


def _likeliest(ranks: np.ndarray, rewards: np.ndarray, noise: np.ndarray) -> Hyperparameters:
    """The hyperparameters of standardised rewards with the highest posterior density."""
    model = gaussian_process(ranks, rewards, noise)
    objective = ExactMarginalLogLikelihood(model.likelihood, model)
    with warnings.catch_warnings(), _one_thread():
        warnings.simplefilter("ignore")  # it warns where it stops early; where it stands is good
        fit_gpytorch_mll_scipy(objective, options={"maxiter": STEPS})
    found: Hyperparameters = model.hyperparameters()
    return found


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """PyTorch on one thread: matrices this small are slower on several, and their sums would
    depend on how many there are.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


# --- the parts ---------------------------------------------------------------------------


class MallowsKernel(Kernel):  # type: ignore[misc]
    """exp(-d / l), with d the normalised Kendall distance between orders given by their ranks.

    It is positive definite: every pair of groups contributes exp(-1/(l pairs)) if the orders
    disagree on it, else 1, which is a kernel, and products of kernels are kernels (Jiao and
    Vert 2015).
    """

    has_lengthscale = True

    def forward(self, x1: Any, x2: Any, diag: bool = False, **params: Any) -> Any:
        """The kernel [..., m, n] between ranks [..., m, k] and [..., n, k]."""
        if diag:
            return torch.ones(x1.shape[:-1], dtype=x1.dtype)
        return torch.exp(-kendall(x1, x2) / self.lengthscale)


def kendall(these: Any, those: Any) -> Any:
    """Normalised Kendall distances as a tensor, over leading dimensions as they come."""
    shape = np.broadcast_shapes(these.shape[:-2], those.shape[:-2])
    a, b = (
        ranks.expand(*shape, *ranks.shape[-2:]).reshape(-1, *ranks.shape[-2:]).long().numpy()
        for ranks in (these, those)
    )
    apart = np.stack([distances.kendall(one, other) for one, other in zip(a, b, strict=True)])
    return torch.from_numpy(apart).reshape(*shape, these.shape[-2], those.shape[-2])


class _GaussianProcess(ExactGP, GPyTorchModel):  # type: ignore[misc]
    """The exact Gaussian process of standardised rewards."""

    likelihood: Any
    train_targets: Any

    def __init__(self, ranks: Any, rewards: Any, noise: Any) -> None:
        likelihood = FixedNoiseGaussianLikelihood(
            noise, learn_additional_noise=True, noise_constraint=_positive()
        )
        super().__init__(ranks, rewards, likelihood)
        self.mean_module = ConstantMean()
        self.covar_module = ScaleKernel(
            MallowsKernel(lengthscale_constraint=_positive()), outputscale_constraint=_positive()
        )
        self.apart = kendall(ranks, ranks)
        self._start()
        self._set_priors()

    def _start(self) -> None:
        """Put the hyperparameters at the middle of their priors."""
        self.covar_module.base_kernel.lengthscale = LENGTH[0]
        self.covar_module.outputscale = SPREAD_SQUARED[0]
        self.likelihood.second_noise = VARIATION_SQUARED[0]
        self.mean_module.constant = torch.tensor(CENTRE[0])

    def _set_priors(self) -> None:
        """Normal priors of the logarithms, which are what the optimiser moves: where rewards say
        nothing, a hyperparameter stays at the middle of its prior.
        """
        kernel, noise = self.covar_module.base_kernel, self.likelihood.second_noise_covar
        kernel.register_prior("length", _of_logarithm(LENGTH), lambda k: k.raw_lengthscale)
        self.covar_module.register_prior(
            "spread", _of_logarithm(SPREAD_SQUARED), lambda k: k.raw_outputscale
        )
        noise.register_prior("variation", _of_logarithm(VARIATION_SQUARED), lambda k: k.raw_noise)
        self.mean_module.register_prior("centre", NormalPrior(*CENTRE), lambda m: m.constant)

    def forward(self, ranks: Any) -> Any:
        """The prior of f at orders given by their ranks."""
        return MultivariateNormal(self.mean_module(ranks), self.covar_module(ranks))

    def compute_custom_loss(self, mll: Any = None) -> Any:
        """What BoTorch minimises: the negative log marginal likelihood and log priors, for each
        measurement.

        It is what GPyTorch's objective says, put in one expression over distances that are
        worked out once. A fit takes half the time.
        """
        count = len(self.train_targets)
        scale, length = self.covar_module.outputscale, self.covar_module.base_kernel.lengthscale
        noise = self.likelihood.noise  # known and learnt together
        covariance = scale * torch.exp(-self.apart / length) + torch.diag(noise)
        root = torch.linalg.cholesky(covariance)
        residual = (self.train_targets - self.mean_module.constant)[:, None]
        white = torch.linalg.solve_triangular(root, residual, upper=False)
        loss = 0.5 * (white**2).sum() + root.diagonal().log().sum()
        loss = loss + 0.5 * count * math.log(2 * math.pi)
        this: Any = self  # what PyTorch's modules hold has no static type
        for _, module, prior, value, _ in this.named_priors():
            loss = loss - prior.log_prob(value(module)).sum()
        return loss / count

    def hyperparameters(self) -> Hyperparameters:
        """Where the hyperparameters stand."""
        return Hyperparameters(
            length=self.covar_module.base_kernel.lengthscale.item(),
            spread=math.sqrt(self.covar_module.outputscale.item()),
            variation=math.sqrt(self.likelihood.second_noise.item()),
            centre=self.mean_module.constant.item(),
        )


def gaussian_process(ranks: np.ndarray, rewards: np.ndarray, noise: np.ndarray) -> Any:
    """The Gaussian process of standardised rewards, with its hyperparameters at the start."""
    tensors = (torch.tensor(values, dtype=torch.float64) for values in (ranks, rewards, noise))
    model: Any = _GaussianProcess(*tensors)
    return model.double()


def _of_logarithm(prior: tuple[float, float]) -> Any:
    middle, deviation = prior
    return NormalPrior(math.log(middle), deviation)


def _positive() -> Any:
    """A constraint under which the optimiser moves in the logarithm."""
    return GreaterThan(0.0, transform=torch.exp, inv_transform=torch.log)
