"""Settings: typed, documented, and refused by name when they are wrong."""

from itertools import pairwise
from pathlib import Path

import pytest

from askbook.errors import SettingsError
from askbook.settings import Settings, load_settings

ROOT = Path(__file__).parents[2]


def documented() -> dict[str, str]:
    """`.env.example` as name → comment line before it."""
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    return {
        line.lstrip("# ").split("=")[0]: before.lstrip("# ")
        for before, line in pairwise(lines)
        if line.startswith("#ASKBOOK_")
    }


def test_the_example_file_lists_every_setting_with_its_description():
    expected = {
        f"ASKBOOK_{name.upper()}": field.description
        for name, field in Settings.model_fields.items()
    }
    assert documented() == expected


def test_the_example_file_shows_the_defaults():
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    for name, field in Settings.model_fields.items():
        shown = "" if field.default in (None, ()) else field.default
        assert f"\n#ASKBOOK_{name.upper()}={shown}\n" in text


def test_a_wrong_setting_is_named_in_the_error(monkeypatch):
    monkeypatch.setenv("ASKBOOK_PORT", "eighty")
    monkeypatch.setenv("ASKBOOK_KEEP_VERSIONS", "0")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert "ASKBOOK_PORT='eighty'" in str(caught.value)
    assert "ASKBOOK_KEEP_VERSIONS='0'" in str(caught.value)


def test_keys_are_not_shown(monkeypatch):
    monkeypatch.setenv("COHERE_API_KEY", "very-secret")
    settings = load_settings()
    assert "very-secret" not in repr(settings)
    assert settings.cohere_api_key.get_secret_value() == "very-secret"


@pytest.mark.parametrize("proxies", ["*", "proxy.example", "10.0.0.1/8", "10.0.0.1,"])
def test_a_trusted_proxy_is_an_address_or_a_network(monkeypatch, proxies):
    monkeypatch.setenv("ASKBOOK_TRUSTED_PROXIES", "10.0.0.1, 172.16.0.0/12, 2001:db8::/32")
    assert load_settings().trusted_proxies == ("10.0.0.1", "172.16.0.0/12", "2001:db8::/32")
    monkeypatch.setenv("ASKBOOK_TRUSTED_PROXIES", proxies)
    with pytest.raises(SettingsError, match="ASKBOOK_TRUSTED_PROXIES"):
        load_settings()
