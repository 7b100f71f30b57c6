"""Tweets of made-up politicians, for the tutorials: they read like tweets, need no download, and hurt nobody.

Each tweet is about one or two of eight subjects. Which ones depends on the party and on the month, so that there is
something to find: wildfires in summer, vaccines in spring, taxes in April, and parties that differ.
"""

import numpy as np

SUBJECTS = {  # who it is about, what it is about, and a sentence that nobody else would write
    "health": (
        "patients nurses doctors hospitals clinics seniors pharmacists diabetics",
        "vaccines insulin medicare prescriptions insurance surgery screening therapy cancer opioids premiums",
        "Get your shot of the vaccine: it protects {who}.",
    ),
    "taxes": (
        "taxpayers workers employers businesses households savers retirees shops",
        "taxes inflation spending deficits wages deductions debt tariffs prices budgets payrolls growth",
        "{who} should keep more of what they earn.",
    ),
    "border": (
        "agents migrants dreamers officers refugees sheriffs guards translators",
        "asylum fentanyl visas fences citizenship smuggling deportations DACA detention amnesty checkpoints",
        "I stood at the border with {who} tonight.",
    ),
    "climate": (
        "firefighters farmers ranchers scientists foresters fishermen crews tribes",
        "wildfires drought emissions carbon solar wind smoke forests methane rivers heat coal",
        "Another summer of smoke, and {who} pay for it.",
    ),
    "veterans": (
        "veterans soldiers heroes marines sailors caregivers widows cadets",
        "service benefits memorials ceremonies sacrifice medals honor burials wounds deployments uniforms flags",
        "Freedom is not free: thank the {who}.",
    ),
    "schools": (
        "students teachers parents graduates children principals coaches librarians",
        "classrooms tuition loans literacy scholarships lunches curricula science math colleges diplomas exams",
        "Congratulations to the {who} of the year!",
    ),
    "storms": (
        "residents neighbors responders volunteers shelters lifeguards homeowners renters",
        "hurricanes flooding evacuations levees outages relief FEMA sandbags landfall debris generators surge",
        "Stay off the roads, and let the {who} work.",
    ),
    "courts": (
        "judges voters justices women citizens lawyers senators clerks",
        "abortion ballots nominees rights rulings precedents elections redistricting pardons oaths juries",
        "The court has no business telling {who} how to live.",
    ),
}
SENTENCES = (  # that anybody writes about anything
    "Our {who} need {what} and {what}.",
    "I met {who} to talk about {what}.",
    "{who} and {who} ask for help with {what} and {what}.",
    "No more delays on {what}: {who} are waiting.",
    "We passed a bill on {what} and {what}.",
    "Listening to {who} about {what}, {what} and {what}.",
    "{who} want to know: what about {what}?",
)
OPENINGS = (
    "",
    "",
    "",
    "Today: ",
    "BREAKING: ",
    "Proud to say it: ",
    "RT @capitol: ",
    "My statement: ",
    "Good news! ",
)
CLOSINGS = (
    "",
    "",
    "",
    " Read more: https://example.org/news",
    " #mondaymotivation",
    " Join me tonight.",
    " @housefloor",
)
CARES = {  # how much more a party writes on a subject than the other one does
    "Blue": {"health": 2.0, "climate": 2.0, "courts": 1.3, "schools": 1.3},
    "Red": {"taxes": 2.2, "border": 2.2, "veterans": 1.3, "courts": 1.2},
}
SEASONS = {  # subject: month of its peak, and how high it rises
    "climate": (8, 4.0), "storms": (9, 5.0), "taxes": (4, 2.0), "health": (3, 2.5), "veterans": (11, 3.0),
    "schools": (6, 1.5),
}  # fmt: skip


def made_tweets(n=4_000, year=2021, seed=0):
    """A table of tweets: date, party, author, text, and the subject that it was made from.

    >>> made_tweets(3)["party"][0] in ("Blue", "Red")
    True
    """
    rng = np.random.default_rng(seed)
    names = list(SUBJECTS)
    columns = {"date": [], "party": [], "author": [], "text": [], "subject": []}
    for _ in range(n):
        month, party = int(rng.integers(1, 13)), str(rng.choice(list(CARES)))
        weight = np.array([CARES[party].get(name, 1.0) * _season(name, month) for name in names])
        first, second = rng.choice(names, size=2, p=weight / weight.sum())
        said = [_sentence(first, rng), _sentence(first if rng.random() < 0.7 else second, rng)]
        columns["date"].append(f"{year}-{month:02}-{int(rng.integers(1, 29)):02}")
        columns["party"].append(party)
        columns["author"].append(f"{party.lower()}{int(rng.integers(1, 21))}")
        columns["text"].append(str(rng.choice(OPENINGS)) + " ".join(said) + str(rng.choice(CLOSINGS)))
        columns["subject"].append(str(first))
    return columns


def _season(name, month):
    """How much a month raises a subject: 1 far from its peak, more near it."""
    peak, height = SEASONS.get(name, (1, 1.0))
    away = min(abs(month - peak), 12 - abs(month - peak))
    return 1 + (height - 1) * max(0.0, 1 - away / 3)


def _sentence(name, rng):
    """A sentence on a subject, whose gaps are filled by its words."""
    who, what, own = SUBJECTS[name]
    text = own if rng.random() < 0.15 else str(rng.choice(SENTENCES))
    for gap, words in (("{who}", who.split()), ("{what}", what.split())):
        for word in rng.permutation(words)[: text.count(gap)]:
            text = text.replace(gap, str(word), 1)
    return text[0].upper() + text[1:]
