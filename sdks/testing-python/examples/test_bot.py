import threading
from collections.abc import Iterator

import pytest
from bot import Bot
from pytest_recado import Gateway, Phone


@pytest.fixture(scope="session")
def bot(recado_gateway: Gateway) -> Iterator[Bot]:
    with Bot(recado_gateway.base_url, recado_gateway.api_key) as bot:
        threading.Thread(target=bot.serve_forever).start()
        bot.register(recado_gateway.instance_id)
        yield bot
        bot.shutdown()


def test_bot_says_what_it_hears(bot: Bot, recado_phone: Phone) -> None:
    recado_phone.send("Oi!")
    answer = recado_phone.wait_for_message()
    assert answer["text"] == "Oi!"
