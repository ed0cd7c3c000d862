-- Who waits for a resource stands in a queue (queue.lua), and listens on a channel of its own. Told are the
-- one that came first and, in case it is not there, the second; those that listen no more are dropped.
-- That somebody waits is told by a mark, which is deleted together with a resource. It is put back as
-- long as anybody waits. No error of this may reach the caller: the resource is given up.
local function tell(key)
  local queue, told = 'redlock:node:queue:' .. key, 0
  for _ = 1, 8 do
    local waiter = redis.pcall('zrange', queue, told, told)[1]
    if not waiter or told == 2 then
      break
    end
    if redis.pcall('publish', 'redlock:wake:' .. waiter, told .. key) == 0 then
      redis.pcall('zrem', queue, waiter)
    else
      told = told + 1
    end
  end
  local left = redis.pcall('pttl', 'redlock:node:waiters')
  if type(left) == 'number' and left > 0 then
    redis.pcall('set', 'redlock:node:awaited', '', 'PX', left)
  end
end

local function tell_if_awaited(key)
  if redis.pcall('del', 'redlock:node:awaited') == 1 then
    tell(key)
  end
end
