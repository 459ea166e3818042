"""Only real markup is taken out of a question."""

import pytest

from api.markup import without_markup


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ("<script>alert(1)</script>", "alert(1)"),
        ("What is <b>ROS</b>?", "What is ROS?"),
        ('<img src=x onerror="alert(1)">node', "node"),
        ("<<b>script>alert(1)<</b>/script>", "alert(1)"),
        ("a<!-- hidden -->b", "ab"),
        ("nul\0byte", "nulbyte"),
    ],
)
def test_tags_comments_and_nuls_go(asked, left):
    assert without_markup(asked) == left


@pytest.mark.parametrize(
    "asked",
    [
        "std::vector<int>",
        "is a < b and b > c?",
        "Pair<b> and List<object>",
        "what does <- do",
        "rclcpp::Publisher<std_msgs::msg::String>::SharedPtr",
        "<depend>rclcpp</depend>",
        "x <= 3 -> y",
    ],
)
def test_code_stays(asked):
    assert without_markup(asked) == asked
