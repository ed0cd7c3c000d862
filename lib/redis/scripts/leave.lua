-- KEYS: resource. ARGV: the id of a client that does not wait for it any more, and '1' if others can share it, '2' if
-- the client's writer reservation ends. A notification that it got is passed on to the next.
redis.call('zrem', 'redlock:node:queue:' .. KEYS[1], ARGV[1])
-- with: waiters
-- with: holds
-- with: holder
if ARGV[2] == '2' then
  drop_reservation(KEYS[1])
end
if ARGV[2] == '1' or not find_holder(KEYS[1]) then
  notify_if_awaited(KEYS[1])
end
return 0
