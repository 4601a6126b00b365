"""The commands of a survey in the local model: participants randomize their own answers."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import click

from epsilons.asking.commands import jobs, options, spoken
from epsilons.errors import FileError
from epsilons.loading import later
from epsilons.results import report

if TYPE_CHECKING:
    from epsilons import collector
    from epsilons.collector import demo as invented, serving
else:
    collector = later("epsilons.collector")
    invented = later("epsilons.collector.demo")
    serving = later("epsilons.collector.serving")

__all__ = ["SURVEY"]

FILE: Final = click.option(
    "--file",
    "where",
    default="survey.db",
    show_default=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file that keeps surveys, invitations and reports.",
)
PORT: Final = click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    default=8470,
    show_default=True,
    help="On this machine.",
)
PROXY: Final = click.option(
    "--proxy", help="The address of a TLS proxy, such as https://survey.example.org."
)
SAVE: Final = click.option(
    "--save", required=True, type=click.Path(dir_okay=False, path_type=Path), help="A new file."
)
NAME: Final = click.argument("name")


@click.group("survey")
def SURVEY() -> None:  # noqa: N802
    """Run surveys in which people choose their own privacy, in their own browsers."""


@SURVEY.command()
@click.argument("question", type=click.Path(dir_okay=False, path_type=Path))
@options.JSON
def example(question: Path, as_json: bool) -> None:
    """Write an example of a survey to the TOML file QUESTION."""
    if question.exists():
        raise FileError(f"{str(question)!r} already exists.")
    with resources.as_file(resources.files("epsilons") / "data" / "question.toml") as path:
        shutil.copyfile(path, question)
    words = f"Wrote {question}: epsilons survey new {question}"
    spoken.tell({"question": str(question)}, words, as_json=as_json)


@SURVEY.command()
@click.argument("question", type=click.Path(path_type=Path))
@FILE
@PORT
@PROXY
@options.JSON
def new(question: Path, where: Path, port: int, proxy: str | None, as_json: bool) -> None:
    """Create the survey that the TOML file QUESTION describes, and its invitations."""
    address = serving.address_of(port, proxy)
    survey = collector.Survey.read(question)
    links = where.parent / f"{survey.id}-invitations.txt"
    if links.exists():
        raise FileError(f"{str(links)!r} already exists: invitations are never overwritten.")
    with _links(links) as write:
        made = collector.create(where, survey)
        write(address, survey.id, made.tokens)
    page = f"{address}/o/{survey.id}#{made.key}"
    words = (
        f"Made survey {survey.id!r} in {where}.",
        f"{len(made.tokens):,} invitations, one link for each person: {links}",
        "Your own page. Keep this link, it is shown only now:",
        page,
    )
    told = {"id": survey.id, "organiser": page, "invitations": str(links)}
    spoken.tell(told, "\n".join(words), as_json=as_json)


@SURVEY.command("serve")
@FILE
@PORT
@PROXY
@options.JSON
def serve_(where: Path, port: int, proxy: str | None, as_json: bool) -> None:
    """Serve all surveys of the file, until interrupted."""
    address = serving.address_of(port, proxy)
    with collector.Service(where) as service:
        links = [f"{address}/s/{name}" for name in service.surveys]
        if as_json:
            click.echo(report.to_json({"surveys": links}))
        else:
            click.echo("\n".join(links), err=True)
        collector.serve(service, port, proxy)


@SURVEY.command()
@NAME
@click.option("--many", type=int, default=10, show_default=True, help="How many more.")
@SAVE
@FILE
@PORT
@PROXY
@options.JSON
def invitations(
    name: str, many: int, save: Path, where: Path, port: int, proxy: str | None, as_json: bool
) -> None:
    """Create more invitations to the survey NAME."""
    address = serving.address_of(port, proxy)
    if save.exists():
        raise FileError(f"{str(save)!r} already exists: invitations are never overwritten.")
    with collector.Service(where) as service, _links(save) as write:
        write(address, name, service.invite(name, many))
    told = {"invitations": many, "file": str(save)}
    spoken.tell(told, f"{many:,} invitations: {save}", as_json=as_json)


@SURVEY.command("replace")
@NAME
@click.argument("old", type=click.Path(dir_okay=False, path_type=Path))
@SAVE
@FILE
@PORT
@PROXY
@options.JSON
def replace_(
    name: str, old: Path, save: Path, where: Path, port: int, proxy: str | None, as_json: bool
) -> None:
    """Replace the links in the file OLD by new invitations, and count the replacements.

    This is for people whose link is bound to a device or browser that they can no longer use. Old
    links that were not used become invalid.
    """
    address = serving.address_of(port, proxy)
    if save.exists():
        raise FileError(f"{str(save)!r} already exists: invitations are never overwritten.")
    try:
        links = old.read_text("utf-8").split()
    except (OSError, UnicodeDecodeError):
        raise FileError(f"{str(old)!r} cannot be read.") from None
    if not links:
        raise FileError(f"{str(old)!r} holds no link.")
    tokens = [link.rpartition("#")[2] for link in links]
    with collector.Service(where) as service, _links(save) as write:
        write(address, name, service.replace(name, tokens))
    told = {"replaced": len(tokens), "file": str(save)}
    words = f"{len(tokens):,} invitations were replaced: {save}"
    spoken.tell(told, words, as_json=as_json)


@SURVEY.command("list")
@FILE
@options.JSON
def list_(where: Path, as_json: bool) -> None:
    """List all surveys of the file."""
    with collector.Service(where) as service:
        rows = {name: _listed(service, name) for name in service.surveys}
    lines = [
        f"{name}: {row['status']}, {row['reports']:,} reports of {row['invited']:,} invited, "
        f"closes {row['closes']}. {row['question']}"
        for name, row in rows.items()
    ]
    spoken.tell(rows, "\n".join(lines), as_json=as_json)


def _listed(service: collector.Service, name: str) -> dict[str, Any]:
    survey, told = service.survey(name).to_dict(), service.estimate(name)
    said = {key: survey[key] for key in ("question", "kind", "closes")}
    return {**said, **{key: told[key] for key in ("status", "reports", "invited")}}


@SURVEY.command()
@NAME
@FILE
@options.JSON
def close(name: str, where: Path, as_json: bool) -> None:
    """Close the survey NAME for good."""
    with collector.Service(where) as service:
        status = service.shut(name)
    told = {"id": name, "status": status}
    spoken.tell(told, f"Survey {name!r} is {status}.", as_json=as_json)


@SURVEY.command()
@NAME
@FILE
@options.REPORT
@options.FIGURE
@options.JSON
def estimate(name: str, where: Path, page: str | None, picture: str | None, as_json: bool) -> None:
    """Print the estimate of the survey NAME.

    While the survey is open, reports are added in batches of ten or more.
    """
    files = options.Files(page, picture)
    with collector.Service(where) as service:
        told = service.estimate(name)
        release = service.release(name) if told["reports"] or page or picture else None
        question = service.survey(name).question
    if release is not None:
        jobs.released(release)
        files.write(replace(release, title=" ".join(question.split())))
    shown = "reports are shown" if told["status"] == "open" else "reports"
    lines = [] if release is None else [str(release)]
    lines.append(f"{told['reports']:,} {shown}; the survey is {told['status']}.")
    if told["replaced"]:
        lines.append(
            f"{told['replaced']:,} invitations were replaced: so many people may have answered "
            "twice."
        )
    spoken.tell(told, "\n".join(lines), as_json=as_json)


@SURVEY.command()
@NAME
@click.argument("parquet", type=click.Path(dir_okay=False, path_type=Path))
@FILE
@options.JSON
def export(name: str, parquet: Path, where: Path, as_json: bool) -> None:
    """Write all reports of the survey NAME, once it is closed, to the file PARQUET."""
    with collector.Service(where) as service:
        many = service.export(name, parquet)
    told = {"reports": many, "file": str(parquet)}
    spoken.tell(told, f"{many:,} reports: {parquet}", as_json=as_json)


@SURVEY.command()
@NAME
@click.argument("html", type=click.Path(dir_okay=False, path_type=Path))
@FILE
@options.JSON
def offline(name: str, html: Path, where: Path, as_json: bool) -> None:
    """Write the page of the survey NAME as one file, and print the SHA-256 hash to publish."""
    with collector.Service(where) as service:
        text = collector.offline_page(service.survey(name))
    try:
        html.write_text(text, "utf-8")
    except OSError as error:
        raise FileError(f"{str(html)!r} cannot be written ({error.strerror}).") from None
    hashed = hashlib.sha256(text.encode()).hexdigest()
    spoken.tell({"sha256": hashed, "file": str(html)}, f"{hashed}  {html}", as_json=as_json)


@SURVEY.command()
@PORT
@options.JSON
def demo(port: int, as_json: bool) -> None:
    """Serve a survey with invented participants, to try in a browser; nothing is stored."""
    survey = invented.demo_survey()
    address = serving.address_of(port, None)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "demo.db"
        made = collector.create(path, survey)
        with collector.Service(path) as service:
            crowd = invented.Participants(service, survey, made.tokens[: invented.PEOPLE])
            page = f"{address}/o/{survey.id}#{made.key}"
            tokens = made.tokens[invented.PEOPLE : invented.PEOPLE + 2]
            links = [f"{address}/s/{survey.id}#{token}" for token in tokens]
            words = [
                f"The organiser's page: {page}",
                *(f"An invitation:        {link}" for link in links),
                f"{invented.PEOPLE:,} invented people answer now. Stop with Ctrl-C.",
            ]
            told = {"organiser": page, "invitations": links}
            spoken.tell(told, "\n".join(words), as_json=as_json)
            crowd.start()
            try:
                collector.serve(service, port)
            finally:
                crowd.stop()


@contextmanager
def _links(path: Path) -> Iterator[Callable[[str, str, tuple[str, ...]], None]]:
    """Open a new file for links that only its owner can read, and delete it if an error occurs.

    The file is opened before invitations are created, so a file that cannot be written is detected
    in time.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise FileError(f"{str(path)!r} cannot be written ({error.strerror}).") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:

            def write(address: str, name: str, tokens: tuple[str, ...]) -> None:
                file.writelines(f"{address}/s/{name}#{token}\n" for token in tokens)

            yield write
    except BaseException:
        path.unlink()
        raise
