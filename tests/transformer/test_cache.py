import pytest
import torch

from transformer.cache import KeyValueCache


def test_a_cache_grows_past_its_room_and_keeps_its_rows_apart():
    torch.manual_seed(0)
    steps = 2 * KeyValueCache.ROOM + 3
    keys, values = torch.randn(3, 2, steps, 4), torch.randn(3, 2, steps, 5)
    cache, rows = KeyValueCache(growing=True), torch.arange(3)
    for t in range(steps):
        key, value = cache.append(keys[rows, :, t : t + 1], values[rows, :, t : t + 1])
        torch.testing.assert_close((key, value), (keys[rows, :, : t + 1], values[rows, :, : t + 1]))
        if t == KeyValueCache.ROOM // 2:  # while there is room
            order = torch.tensor([2, 0])
            cache.select(order)
            rows = rows[order]
    assert cache.length == steps


@pytest.mark.parametrize("growing", [True, False])
def test_what_a_cache_holds_lies_together_whatever_its_room(growing):
    """With the room of each row behind it, attention reads twice as long."""
    cache = KeyValueCache(growing=growing)
    found = cache.append(torch.randn(3, 2, 5, 4), torch.randn(3, 2, 5, 4))
    cache.select(torch.tensor([2, 0]))
    for stored in (*found, *(cache.fixed() or cache.append(*torch.randn(2, 2, 2, 1, 4)))):
        assert stored.permute(2, 0, 1, 3).is_contiguous()


def test_several_tokens_at_a_time_cross_the_room_of_a_cache():
    torch.manual_seed(0)
    room = KeyValueCache.ROOM
    new = [1, room - 1, 5, 2 * room + 3, 1]  # into the room, past its end, past all of it
    keys, values = torch.randn(2, 2, sum(new), 4), torch.randn(2, 2, sum(new), 5)
    cache, start = KeyValueCache(growing=True), 0
    for number in new:
        end = start + number
        key, value = cache.append(keys[:, :, start:end], values[:, :, start:end])
        torch.testing.assert_close((key, value), (keys[:, :, :end], values[:, :, :end]))
        start = end
    assert cache.length == sum(new)


def test_a_growing_cache_copies_what_it_stored_once_in_seventeen_steps():
    """With room for `ROOM` = 16 positions to come, most steps write only what is new."""
    cache, token = KeyValueCache(growing=True), torch.zeros(1, 1, 1, 4)
    places = [cache.append(token, token)[0].data_ptr() for _ in range(3 * 17)]
    assert [places.count(place) for place in dict.fromkeys(places)] == [17, 17, 17]
