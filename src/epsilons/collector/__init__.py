"""Surveys in the local model: participants need not trust the server.

survey = collector.Survey.read("question.toml")
made = collector.create("survey.db", survey)         returns the organiser's key and invitations
with collector.Service("survey.db") as service:      used by `epsilons survey serve`
    service.estimate(survey.id)
    service.export(survey.id, "reports.parquet")
    collector.serve(service)
"""

from epsilons.collector.question import Level, Survey
from epsilons.collector.service import Made, Service, create
from epsilons.collector.serving import offline_page, serve
from epsilons.collector.store import Outcome

__all__ = ["Level", "Made", "Outcome", "Service", "Survey", "create", "offline_page", "serve"]
