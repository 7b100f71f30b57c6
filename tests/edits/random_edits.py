"""Random edits of small models, for tests of what edits promise."""

import numpy as np

from fdmix import Moments, fit_mixture, worlds

WORDS = tuple(f"w{u}" for u in range(60))


def small_model(seed=0, n_topics=6, sparsity=0.0):
    """(mixture, moments) of a small world; every topic has a label that tells its number."""
    world = worlds.World(worlds.dirichlet_topics(n_topics, 12 * worlds.zipf_base(len(WORDS)), seed), 0.2)
    moments = Moments.of(world.sample(400, length=15, seed=seed), WORDS)
    mixture = fit_mixture(moments, n_topics, sparsity=sparsity, max_passes=30).mixture
    return mixture.labelled({t: f"topic {t}" for t in range(n_topics)}), moments


def random_edit(editor, rng):
    """The editor with one more random edit; itself if the edit was refused."""
    live = sorted(editor.plan.live)
    topic, other = (int(t) for t in rng.choice(live, 2, replace=len(live) < 2))
    words = [str(word) for word in rng.choice(WORDS, 3, replace=False)]
    choices = {
        "merge": lambda: editor.merge(topic, other),
        "split": lambda: editor.split(topic),
        "drop": lambda: editor.drop(topic),
        "seed": lambda: editor.seed({topic: {words[0]: 0.05, words[1]: 0.01, "unheard-of": 1.0}}),
        "new": lambda: editor.seed({f"new {words[0]}": words}),
        "ban": lambda: editor.ban(words[0]),
        "ban from topic": lambda: editor.ban(*words[:2], topic=topic),
        "together": lambda: editor.together(*words),
        "apart": lambda: editor.apart(*words),
        "freeze": lambda: editor.freeze(topic),
        "rename": lambda: editor.rename(topic, f"renamed {words[0]}"),
        "pin": lambda: editor.pin(topic, int(rng.integers(len(live)))),
    }
    try:
        return choices[str(rng.choice(list(choices)))]()
    except ValueError:
        return editor


def random_step(edited, rng, n_edits=4):
    """(edited, editor) after a step of random edits; (the same, None) if the numbers or constraints were refused."""
    editor = edited.edit()
    for _ in range(n_edits):
        editor = random_edit(editor, rng)
    others = str(rng.choice(["follow", "stay", "near"]))
    try:
        return editor.fit(passes=2, others=others), editor
    except ValueError:
        return edited, None


def same_bits(a, b):
    """Whether two mixtures are equal to the last bit, labels and provenance included."""
    return (
        np.array_equal(a.topics, b.topics)
        and np.array_equal(a.correlations, b.correlations)
        and a.labels == b.labels
        and a.provenance == b.provenance
        and (np.array_equal(a.prior, b.prior) if a.prior is not None else b.prior is None)
    )
