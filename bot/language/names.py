"""The catalog's names as people write them: types, families, accelerators, regions."""

import re
from dataclasses import dataclass
from decimal import Decimal

from bot.catalog import Catalog, InstanceType
from bot.language.words import fold

_BORDER = re.compile(r"[\s-]|(?<=[A-Za-z])(?=\d)")
_SHORTEST_PREFIX = 3
_KEPT = 4


@dataclass(frozen=True, slots=True)
class Names:
    """Lookup by folded name. Values are the catalog's own names; several mean: ask."""

    catalog: Catalog
    types: dict[str, str]
    families: dict[str, tuple[str, ...]]
    accelerators: dict[str, tuple[str, ...]]
    regions: dict[str, tuple[str, ...]]
    region_words: frozenset[str]
    whole: dict[str, tuple[str, ...]]

    def kind(self, name: str) -> InstanceType:
        """Return the catalog's entry of a type's own name."""
        return self.catalog.types[name]

    def carriers(self, accelerator: str) -> tuple[str, ...]:
        """Return the types that carry the accelerator whole."""
        return self.whole.get(accelerator, ())

    def ultraservers_of(self, name: str) -> tuple[InstanceType, ...]:
        """Return the UltraServers a type is sold inside of; empty when it is sold alone."""
        inner = self.kind(name)
        if not inner.ultraserver or is_ultraserver(name) or inner.on_demand or inner.spot:
            return ()
        return tuple(
            kind
            for kind in self.catalog.types.values()
            if is_ultraserver(kind.name) and kind.accelerator == inner.accelerator
        )

    def inner_size(self, name: str) -> Decimal | None:
        """Return the accelerators of one machine inside an UltraServer."""
        outer = self.kind(name)
        for kind in self.catalog.types.values():
            if kind.ultraserver and not is_ultraserver(kind.name):
                member = name in kind.ultraserver or kind.name.startswith("trn2u")
                if member and kind.accelerator == outer.accelerator:
                    return kind.accelerators
        return None


def is_ultraserver(name: str) -> bool:
    """Return whether the type is a whole UltraServer."""
    return name.startswith("u-")


def squash(name: str) -> str:
    """Return the folded name without spaces and dashes: RTX PRO 6000 is rtxpro6000."""
    return fold(name).replace(" ", "").replace("-", "")


def _accelerators(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    exact: dict[str, tuple[str, ...]] = {}
    begins: dict[str, list[str]] = {}
    for name in sorted({kind.accelerator for kind in catalog.types.values()}):
        exact[squash(name)] = (name,)
        for border in _BORDER.finditer(name):
            prefix = squash(name[: border.start()])
            if len(prefix) >= _SHORTEST_PREFIX and name not in begins.setdefault(prefix, []):
                begins[prefix].append(name)
    found = {prefix: tuple(names) for prefix, names in begins.items() if len(names) > 1} | exact
    plural = {f"{name}s": names for name, names in found.items() if f"{name}s" not in found}
    memory = {
        f"{squash(name)}gb": (name,) for names in exact.values() for name in names if "-" in name
    }
    return memory | plural | found


def _regions(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for region in catalog.regions.values():
        outer, _, rest = region.name.partition(" (")
        inner = rest.partition(")")[0]
        spoken = {outer, inner, f"{outer} {inner}", region.name}
        if inner.startswith("N. "):
            spoken |= {inner[3:], f"North {inner[3:]}", inner.replace(".", "")}
        for words in {" ".join(re.findall(r"[a-z.]+", fold(name))) for name in spoken}:
            found.setdefault(words, []).append(region.code)
    for region in catalog.regions.values():
        outer = fold(region.name.partition(" (")[0])
        for name, named in found.items():
            if outer.startswith(f"{name} ") and region.code not in named:
                named.append(region.code)
    codes = {code: (code,) for code in catalog.regions}
    return {words: tuple(codes) for words, codes in found.items()} | codes


def _families(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name, kind in catalog.types.items():
        if not is_ultraserver(name):
            found.setdefault(kind.family, []).append(name)
    return {family: tuple(names) for family, names in found.items()}


_made: dict[int, Names] = {}


def names_of(catalog: Catalog) -> Names:
    """Return the catalog's names; made once for each catalog (the last few are kept)."""
    names = _made.get(id(catalog))
    if names is None or names.catalog is not catalog:
        while len(_made) >= _KEPT:
            _made.pop(next(iter(_made)))
        accelerators = {kind.accelerator for kind in catalog.types.values()}
        regions = _regions(catalog)
        names = _made[id(catalog)] = Names(
            catalog=catalog,
            types={name: name for name in catalog.types},
            families=_families(catalog),
            accelerators=_accelerators(catalog),
            regions=regions,
            region_words=frozenset(words.split()[0] for words in regions if words),
            whole={
                name: tuple(kind.name for kind in catalog.carrying(name) if kind.accelerators >= 1)
                for name in accelerators
            },
        )
    return names
