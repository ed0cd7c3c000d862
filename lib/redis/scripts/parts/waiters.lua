-- A client that waits for a resource is queued (queue.lua), and subscribed to a channel of its own. A release
-- notifies the first client of the queue and, in case that one has gone, the second; clients that are not subscribed
-- any more are dropped. A flag says that clients wait. It is deleted together with a resource, and set again while
-- any client waits. No error of this may reach the caller: the resource is released already.
local function notify(key)
  local queue, notified = 'redlock:node:queue:' .. key, 0
  for _ = 1, 8 do
    local waiter = redis.pcall('zrange', queue, notified, notified)[1]
    if not waiter or notified == 2 then
      break
    end
    if redis.pcall('publish', 'redlock:wake:' .. waiter, notified .. key) == 0 then
      redis.pcall('zrem', queue, waiter)
    else
      notified = notified + 1
    end
  end
  local left = redis.pcall('pttl', 'redlock:node:waiters')
  if type(left) == 'number' and left > 0 then
    redis.pcall('set', 'redlock:node:awaited', '', 'PX', left)
  end
end

local function notify_if_awaited(key)
  if redis.pcall('del', 'redlock:node:awaited') == 1 then
    notify(key)
  end
end
