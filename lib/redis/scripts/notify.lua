-- KEYS: resource. ARGV: for how many milliseconds it is reserved for who is first in the queue, behind a release by a
-- plain command.
-- with: waiters
if redis.call('exists', KEYS[1]) == 0 then
  pass_on(KEYS[1], ARGV[1])
else
  notify(KEYS[1])
end
return 0
