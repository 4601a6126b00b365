"""The commands of a survey in the local model: participants randomize their own answers."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import click

from epsilons.asking.commands import options
from epsilons.collector import Service, Survey, create, offline_page, serve
from epsilons.collector.demo import PEOPLE, Participants, demo_survey
from epsilons.collector.serving import address_of
from epsilons.errors import FileError
from epsilons.results import report

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
NAME: Final = click.argument("name")


@click.group("survey")
def SURVEY() -> None:  # noqa: N802
    """Run surveys in which people choose their own privacy, in their own browsers."""


@SURVEY.command()
@click.argument("question", type=click.Path(dir_okay=False, path_type=Path))
def example(question: Path) -> None:
    """Write an example of a survey to the TOML file QUESTION."""
    if question.exists():
        raise FileError(f"{str(question)!r} already exists.")
    with resources.as_file(resources.files("epsilons") / "data" / "question.toml") as path:
        shutil.copyfile(path, question)
    click.echo(f"Wrote {question}: epsilons survey new {question}")


@SURVEY.command()
@click.argument("question", type=click.Path(path_type=Path))
@FILE
@PORT
@PROXY
@options.JSON
def new(question: Path, where: Path, port: int, proxy: str | None, as_json: bool) -> None:
    """Create the survey that the TOML file QUESTION describes, and its invitations."""
    address = address_of(port, proxy)
    survey = Survey.read(question)
    links = where.parent / f"{survey.id}-invitations.txt"
    if links.exists():
        raise FileError(f"{str(links)!r} already exists: invitations are never overwritten.")
    with _links(links) as write:
        made = create(where, survey)
        write(address, survey.id, made.tokens)
    page = f"{address}/o/{survey.id}#{made.key}"
    if as_json:
        click.echo(report.to_json({"id": survey.id, "organiser": page, "invitations": str(links)}))
        return
    click.echo(f"Made survey {survey.id!r} in {where}.")
    click.echo(f"{len(made.tokens):,} invitations, one link for each person: {links}")
    click.echo("Your own page. Keep this link, it is shown only now:")
    click.echo(page)


@SURVEY.command("serve")
@FILE
@PORT
@PROXY
def serve_(where: Path, port: int, proxy: str | None) -> None:
    """Serve all surveys of the file, until interrupted."""
    address = address_of(port, proxy)
    with Service(where) as service:
        for name in service.surveys:
            click.echo(f"{address}/s/{name}", err=True)
        serve(service, port, proxy)


@SURVEY.command()
@NAME
@click.option("--many", type=int, default=10, show_default=True, help="How many more.")
@click.option(
    "--save", required=True, type=click.Path(dir_okay=False, path_type=Path), help="A new file."
)
@FILE
@PORT
@PROXY
def invitations(
    name: str, many: int, save: Path, where: Path, port: int, proxy: str | None
) -> None:
    """Create more invitations to the survey NAME."""
    address = address_of(port, proxy)
    if save.exists():
        raise FileError(f"{str(save)!r} already exists: invitations are never overwritten.")
    with Service(where) as service, _links(save) as write:
        write(address, name, service.invite(name, many))
    click.echo(f"{many:,} invitations: {save}")


@SURVEY.command("replace")
@NAME
@click.argument("old", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--save", required=True, type=click.Path(dir_okay=False, path_type=Path), help="A new file."
)
@FILE
@PORT
@PROXY
def replace_(name: str, old: Path, save: Path, where: Path, port: int, proxy: str | None) -> None:
    """Replace the links in the file OLD by new invitations, and count the replacements.

    This is for people whose link is bound to a device or browser that they can no longer use. Old
    links that were not used become invalid.
    """
    address = address_of(port, proxy)
    if save.exists():
        raise FileError(f"{str(save)!r} already exists: invitations are never overwritten.")
    try:
        links = old.read_text("utf-8").split()
    except (OSError, UnicodeDecodeError):
        raise FileError(f"{str(old)!r} cannot be read.") from None
    if not links:
        raise FileError(f"{str(old)!r} holds no link.")
    tokens = [link.rpartition("#")[2] for link in links]
    with Service(where) as service, _links(save) as write:
        write(address, name, service.replace(name, tokens))
    click.echo(f"{len(tokens):,} invitations were replaced: {save}")


@SURVEY.command("list")
@FILE
@options.JSON
def list_(where: Path, as_json: bool) -> None:
    """List all surveys of the file."""
    with Service(where) as service:
        rows = {name: _listed(service, name) for name in service.surveys}
    if as_json:
        click.echo(report.to_json(rows))
        return
    for name, row in rows.items():
        click.echo(
            f"{name}: {row['status']}, {row['reports']:,} reports of {row['invited']:,} invited, "
            f"closes {row['closes']}. {row['question']}"
        )


def _listed(service: Service, name: str) -> dict[str, Any]:
    survey, told = service.survey(name).to_dict(), service.estimate(name)
    said = {key: survey[key] for key in ("question", "kind", "closes")}
    return {**said, **{key: told[key] for key in ("status", "reports", "invited")}}


@SURVEY.command()
@NAME
@FILE
def close(name: str, where: Path) -> None:
    """Close the survey NAME for good."""
    with Service(where) as service:
        click.echo(f"Survey {name!r} is {service.shut(name)}.")


@SURVEY.command()
@NAME
@FILE
@options.JSON
def estimate(name: str, where: Path, as_json: bool) -> None:
    """Print the estimate of the survey NAME.

    While the survey is open, reports are added in batches of ten or more.
    """
    with Service(where) as service:
        told = service.estimate(name)
        if as_json:
            click.echo(report.to_json(told))
            return
        if told["reports"]:
            click.echo(str(service.release(name)))
        shown = "reports are shown" if told["status"] == "open" else "reports"
        click.echo(f"{told['reports']:,} {shown}; the survey is {told['status']}.")
        if told["replaced"]:
            click.echo(
                f"{told['replaced']:,} invitations were replaced: so many people may have answered "
                "twice."
            )


@SURVEY.command()
@NAME
@click.argument("parquet", type=click.Path(dir_okay=False, path_type=Path))
@FILE
def export(name: str, parquet: Path, where: Path) -> None:
    """Write all reports of the survey NAME, once it is closed, to the file PARQUET."""
    with Service(where) as service:
        many = service.export(name, parquet)
    click.echo(f"{many:,} reports: {parquet}")


@SURVEY.command()
@NAME
@click.argument("html", type=click.Path(dir_okay=False, path_type=Path))
@FILE
def offline(name: str, html: Path, where: Path) -> None:
    """Write the page of the survey NAME as one file, and print the SHA-256 hash to publish."""
    with Service(where) as service:
        text = offline_page(service.survey(name))
    try:
        html.write_text(text, "utf-8")
    except OSError as error:
        raise FileError(f"{str(html)!r} cannot be written ({error.strerror}).") from None
    click.echo(f"{hashlib.sha256(text.encode()).hexdigest()}  {html}")


@SURVEY.command()
@PORT
def demo(port: int) -> None:
    """Serve a survey with invented participants, to try in a browser; nothing is stored."""
    survey = demo_survey()
    address = address_of(port, None)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "demo.db"
        made = create(path, survey)
        with Service(path) as service:
            crowd = Participants(service, survey, made.tokens[:PEOPLE])
            click.echo(f"The organiser's page: {address}/o/{survey.id}#{made.key}")
            for token in made.tokens[PEOPLE : PEOPLE + 2]:
                click.echo(f"An invitation:        {address}/s/{survey.id}#{token}")
            click.echo(f"{PEOPLE:,} invented people answer now. Stop with Ctrl-C.")
            crowd.start()
            try:
                serve(service, port)
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
