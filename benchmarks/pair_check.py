"""Does `check_pairs` see that a model has too few topics, or too many? Its excess on worlds with a known number."""

from benchmarks.coverage import SETTINGS, sampled
from benchmarks.measure import machine
from benchmarks.recording import record
from fdmix import fit_mixture
from fdmix.reliability import check_pairs

TRIED = {"authors": (10, 18, 20, 25), "zipf": (3, 7, 8, 12), "intervals": (2, 3, 4)}


def main():
    print(f"# pair_check\n{machine()}")
    for name, numbers in TRIED.items():
        moments = sampled(SETTINGS[name](), seed=0)
        for n_topics in numbers:
            excess = check_pairs(fit_mixture(moments, n_topics).mixture, moments).excess
            record(f"{name}, T {n_topics}", excess=excess)
            print(f"  {name:10} T {n_topics:2}: excess {excess:.2f}", flush=True)


if __name__ == "__main__":
    main()
