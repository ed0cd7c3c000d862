-- Who listens for what is given up has left two marks. One was deleted together with the resource: that
-- is how it is noticed. It is put back as long as the other is there. Nobody may be told of anything by
-- an error: the resource is given up.
local function tell(key)
  redis.pcall('publish', 'redlock:free:' .. key, '')
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
