"""The table and the figures of all runs in a folder."""

from __future__ import annotations

from experiments.adam.run import RUNS, VARIANTS, read_curve
from experiments.results import Results

PAPER = 0.66  # l1 of FDM in the paper's synthetic experiment
COLOURS = {
    "paper": "#0072B2", "authors": "#56B4E9", "exact": "#D55E00", "truth": "#CC79A7", "ours": "#009E73",
    "ours-exact": "#000000",
}  # fmt: skip
TITLES = {
    "authors": "the authors' problem",
    "middle": "the middle problem",
    "large": "a problem of the paper's size",
    "paper": "the paper's synthetic problem",
}


def write(folder, problem):
    """Write result.json, table.csv and the figures from the curves of the runs."""
    curves = {name: read_curve(folder / name) for name in RUNS | VARIANTS}
    curves = {name: curve for name, curve in curves.items() if curve}
    shown = {name: curve for name, curve in curves.items() if name in COLOURS}
    truth = problem.truth.log_likelihood(problem.moments.matrix)
    settings = {"problem": problem.name, "n_topics": problem.truth.n_topics, "n_words": problem.truth.n_words}
    settings |= {"likelihood of the truth": truth, "trace of the truth": float(problem.truth.correlations.trace())}
    done = all(curve[-1]["settled"] for curve in curves.values()) and curves.keys() >= RUNS.keys()
    results = Results(folder, f"The paper's Adam, on {TITLES[problem.name]}", problem.name, settings, complete=done)
    for name, curve in curves.items():
        solver, start, seed = (RUNS | VARIANTS)[name]
        last, best = curve[-1], min(curve, key=lambda point: point["l1"])
        results.rows.append(
            {
                "run": name, "start": start, "seed": seed, "learning rate": solver.learning_rate,
                "pairs a step": None if solver.exact else solver.batch, "exact": str(solver.exact),
                "symmetric alpha'": str(solver.symmetric), "steps": last["steps"], "seconds": last["seconds"],
                "likelihood": last["likelihood"], "l1": last["l1"], "missed": last["missed"], "trace": last["trace"],
                "lowest l1": best["l1"], "at step": best["steps"], "settled": str(last["settled"]),
                "machine": last["machine"],
            }
        )  # fmt: skip

    def drawing(value, label, line):
        def plot(axes):
            for name, curve in shown.items():
                points = [point for point in curve if point["steps"]]
                axes.plot([p["seconds"] for p in points], [p[value] for p in points], color=COLOURS[name], label=name)
            axes.axhline(line, color="#999999", linestyle=":", linewidth=1)
            axes.set(xlabel="seconds of the processor", ylabel=label, xscale="log")
            axes.legend(frameon=False)

        return plot

    results.draw(
        "l1", f"l1 against time; dotted: the paper's {PAPER}, at its own problem", drawing("l1", "l1", PAPER)
    )
    results.draw("likelihood", "Likelihood; dotted: the truth's", drawing("likelihood", "likelihood", truth))
    results.verdict = _verdict(results.rows, settings)
    results.write()


def _verdict(rows, settings):
    said = [
        f"{row['run']}: l1 {row['l1']:.3f}, trace {row['trace']:.2f}, L {row['likelihood']:.4f} after "
        f"{row['steps']:,} steps ({row['seconds']:.0f} s)" + ("" if row["settled"] == "True" else ", not settled")
        for row in rows
    ]
    truth = (
        f"The truth has L {settings['likelihood of the truth']:.4f} and trace {settings['trace of the truth']:.2f}"
    )
    return "; ".join(said) + f". {truth}."
