-- KEYS: resource. ARGV: who waits for it no more, and '1' if others can be let in beside it. Whatever it was told
-- of may be for the next.
redis.call('zrem', 'redlock:node:queue:' .. KEYS[1], ARGV[1])
-- with: waiters
if ARGV[2] == '1' or redis.call('exists', KEYS[1]) == 0 then
  tell_if_awaited(KEYS[1])
end
return 0
