-- KEYS: resource. ARGV: who waits for it, for how many milliseconds to remember that, and '1' to stand at the
-- end even if it is in the queue already. 1: the resource is taken; 0: it is free.
local call = redis.call
local queue = 'redlock:node:queue:' .. KEYS[1]
if ARGV[3] == '1' or not call('zscore', queue, ARGV[1]) then
  local last = call('zrevrange', queue, 0, 0, 'withscores')[2]
  call('zadd', queue, (tonumber(last) or 0) + 1, ARGV[1])
end
call('pexpire', queue, ARGV[2])
call('set', 'redlock:node:waiters', '', 'PX', ARGV[2])
call('set', 'redlock:node:awaited', '', 'PX', ARGV[2])
return call('exists', KEYS[1])
