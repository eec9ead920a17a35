"""Tables of numbers: columns by name, as numpy arrays or as a pandas DataFrame."""
from __future__ import annotations

import numpy as np


def frame(columns):
    """A pandas DataFrame; a column of vectors becomes one for each number, as in x_0, x_1, x_2."""
    import pandas
    out = {}
    for name, values in columns.items():
        if values.ndim == 1:
            out[name] = values
        else:
            for k in range(values.shape[1]):
                out[f"{name}_{k}"] = values[:, k]
    return pandas.DataFrame(out)


class Table:
    """Columns of equal length by name: `table["time"]` or `table.time`. `units` has their units."""

    def __init__(self, name, columns, units=None, attributes=None):
        self.name, self._columns = name, dict(columns)
        self.units, self.attributes = dict(units or {}), dict(attributes or {})

    def __getitem__(self, name):
        return self._columns[name]

    def __getattr__(self, name):
        try:
            return self.__dict__["_columns"][name]
        except KeyError:
            raise AttributeError(f"there is no column '{name}'") from None

    def __iter__(self):
        return iter(self._columns)

    def __contains__(self, name):
        return name in self._columns

    def keys(self):
        """Names of the columns."""
        return list(self._columns)

    def __len__(self):
        return max((len(values) for values in self._columns.values()), default=0)

    def __dir__(self):
        return list(self._columns) + ["keys", "to_pandas", "units"]

    def select(self, names):
        """Some of the columns, those that there are."""
        kept = {name: self._columns[name] for name in names if name in self._columns}
        return Table(self.name, kept, self.units, self.attributes)

    def to_pandas(self):
        """A pandas DataFrame."""
        return frame(self._columns)

    def __repr__(self):
        return f"<Table {self.name}: {len(self)} rows of {', '.join(self._columns)}>"

    def _repr_html_(self):
        if len(self) == 0:
            return f"<b>{self.name}</b>: no rows"
        heads, rows = "", []
        shown = min(len(self), 10)
        for name in self._columns:
            unit = self.units.get(name, "")
            heads += f"<th>{name}{f' [{unit}]' if unit else ''}</th>"
        for i in range(shown):
            cells = "".join(f"<td>{_cell(values[i])}</td>" for values in self._columns.values())
            rows.append(f"<tr>{cells}</tr>")
        return (f"<b>{self.name}</b>, {shown} of {len(self)} rows"
                f"<table><tr>{heads}</tr>{''.join(rows)}</table>")


def _cell(value):
    if isinstance(value, np.ndarray):
        return "(" + ", ".join(f"{x:.4g}" for x in value) + ")"
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else value
