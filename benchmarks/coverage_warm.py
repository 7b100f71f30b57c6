"""Do intervals from refits that begin at the topics, instead of from scratch, cover the truth? See `coverage`."""

from benchmarks.coverage import SETTINGS, measure
from benchmarks.measure import machine

WORLDS = ("intervals", "zipf")  # whose topics overlap
N_SAMPLES = 5


def main():
    print(f"# coverage of 90 % intervals from warm refits\n{machine()}")
    for name in WORLDS:
        measure(name, SETTINGS[name](), N_SAMPLES, warm=True)


if __name__ == "__main__":
    main()
