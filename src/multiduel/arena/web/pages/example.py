"""The demonstration's worked example: six prompts for a help desk, judged by what they made of two letters. Written by us."""

from __future__ import annotations

from multiduel.arena.domain.options import Option, make_content

NAME = "Which prompt answers customers best?"
LETTERS = (
    "A customer writes: “My kettle arrived with a cracked lid. It is a present for Saturday. What now?”",
    "A customer writes: “You charged me twice for one order, and nobody picks up the phone.”",
)
# name, quality in the eyes of the simulated raters, an answer to each letter
ANSWERS = (
    (
        "warm and concrete",
        1.1,
        "I'm sorry, a cracked lid is the last thing you want in a present.\n\n"
        "A **new kettle leaves us today** and reaches you on Friday. Keep or recycle the broken one.\n\n"
        "If it is not there by Friday noon, write back and a courier brings one the same day.",
        "You are right, and I'm sorry: order and charge exist twice in our records.\n\n"
        "The second charge is **refunded as of now**; banks take two or three days to show it.\n\n"
        "I have written down your number. You need not call again.",
    ),
    (
        "steps in a list",
        0.7,
        "Let's get this fixed before Saturday:\n\n1. A new kettle ships **today**.\n2. It arrives on **Friday**.\n"
        "3. Please recycle the broken one.\n\nNothing else for you to do.",
        "Here is what happens next:\n\n1. The second charge is refunded **today**.\n2. Your bank shows it in 2–3 days.\n"
        "3. You get a confirmation by e-mail within the hour.",
    ),
    (
        "very short",
        0.1,
        "Sorry about that! New kettle ships today, arrives Friday. Keep the old one.",
        "Sorry! Second charge refunded just now. Allow 2–3 days.",
    ),
    (
        "formal",
        -0.4,
        "Dear customer,\n\nwe regret the condition in which your order was received. A replacement has been arranged and is "
        "expected to be delivered by Friday.\n\nYours faithfully,\nCustomer Care",
        "Dear customer,\n\nwe have identified a duplicate transaction. A reversal has been initiated and will be reflected in "
        "your account in due course.\n\nYours faithfully,\nCustomer Care",
    ),
    (
        "asks back first",
        -0.7,
        "Oh no! Could you send us the order number, a photo of the lid, a photo of the box, and your address? "
        "Then we will see what we can do.",
        "Thanks for reaching out! Could you tell us the order number, the dates of both charges, and the last four digits of "
        "your card?",
    ),
    (
        "cheerful",
        -0.2,
        "Oh no, crack attack! Don't worry, we've got you: a fresh kettle is already hopping on the van and should be with "
        "you **Friday**. Happy gifting!",
        "Yikes, double trouble! The extra charge is on its way back to you and lands in 2–3 days. High five for spotting it!",
    ),
)


def options() -> tuple[Option, ...]:
    return tuple(Option(name, tuple(make_content("markdown", answer) for answer in answers)) for name, _, *answers in ANSWERS)


def quality() -> list[float]:
    return [quality for _, quality, *_ in ANSWERS]
