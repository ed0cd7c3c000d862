-- KEYS: resource. ARGV: the id of a client that waits for it no more, and '1' if others can be let in beside
-- it, '2' if it kept readers out and does so no more. The notification that it got may be for the next.
redis.call('zrem', 'redlock:node:queue:' .. KEYS[1], ARGV[1])
-- with: waiters
-- with: holds
-- with: holder
if ARGV[2] == '2' then
  drop_reservation(KEYS[1])
end
if ARGV[2] == '1' or not find_holder(KEYS[1]) then
  tell_if_awaited(KEYS[1])
end
return 0
