"""Formulas: the columns that they name, dates in them, and what is refused."""

import numpy as np
import pytest

from fdmix.effects.formula import columns_of_formula, design_matrix


@pytest.mark.parametrize(
    ("formula", "columns"),
    [
        ("~ party", ("party",)),
        ("party * year", ("party", "year")),
        ("~ C(party, contr.treatment('R')) + month(date)", ("party", "date")),
        ("~ poly(day, degree=2) + np.log(length) - 1", ("day", "length")),
        ("~ `home town`:age + I(age > 30)", ("home town", "age")),
        ("~ I(party == 'D')", ("party",)),
        ("~ größe", ("größe",)),
        ("~ 1", ()),
    ],
)
def test_columns_are_found_in_a_formula(formula, columns):
    assert columns_of_formula(formula) == columns


def test_dates_count_from_the_first_one_and_missing_ones_are_left_out():
    pytest.importorskip("formulaic")
    columns = {"date": ["2020-11-30", "", "1 January 2021", "2020-11-02"], "party": ["D", "R", "R", "D"]}
    terms, design, kept = design_matrix("~ party + month(date)", columns, 4)
    assert terms == ("Intercept", "party[T.R]", "month(date)")
    np.testing.assert_array_equal(kept, [0, 2, 3])
    np.testing.assert_array_equal(design[:, 2], [0, 2, 0])
    assert design_matrix("~ C(year(date))", columns, 4)[0] == ("Intercept", "C(year(date))[T.1.0]")
    days = {"date": np.array(["2021-03-01", "2021-03-08"], "datetime64[D]")}
    np.testing.assert_array_equal(design_matrix("~ week(date)", days, 2)[1][:, 1], [0, 1])


def test_what_cannot_be_used_is_refused_without_the_colours_of_a_terminal():
    pytest.importorskip("formulaic")
    columns = {"date": ["x"], "party": ["D"]}
    with pytest.raises(ValueError, match="row 1, column 'date': 'x' is not a date"):
        design_matrix("~ month(date)", columns, 1)
    with pytest.raises(ValueError, match="cannot be used") as refused:
        design_matrix("~ party + (", columns, 1)
    assert "\x1b" not in str(refused.value)
    with pytest.raises(ValueError, match="left side"):
        columns_of_formula("topic ~ party")
