-- A client that waits for a resource is queued, and subscribed to a channel of its own. A flag says that clients wait.
-- It is deleted together with a resource, and set again while any client waits. No error of this may reach the caller:
-- the resource is released already.
local function still_awaited()
  local left = redis.pcall('pttl', 'redlock:node:waiters')
  if type(left) == 'number' and left > 0 then
    redis.pcall('set', 'redlock:node:awaited', '', 'PX', left)
  end
end

-- 0: it is not subscribed any more. '+' is before the id of a client for which nothing is to be reserved: it needs several
-- resources at once, and two such clients would keep one each from the other.
local function publish(member, before, key)
  return redis.pcall('publish', 'redlock:wake:' .. string.gsub(member, '^+', ''), before .. key)
end

-- The key of a resource that others may have soon, or share, is not free: who is first in the queue is notified and, in
-- case that one has gone, the second.
local function notify(key)
  local queue, notified = 'redlock:node:queue:' .. key, 0
  for _ = 1, 8 do
    local waiter = redis.pcall('zrange', queue, notified, notified)[1]
    if not waiter or waiter == '' or notified == 2 then
      break
    end
    if publish(waiter, notified, key) == 0 then
      redis.pcall('zrem', queue, waiter)
    else
      notified = notified + 1
    end
  end
  still_awaited()
end

-- Who was told to notice if the next one hangs.
local function watch_of(key)
  return 'redlock:node:watch:' .. key
end

-- Another one has to, if that is the next itself, or leaves.
local function stop_watching(key, client)
  if redis.pcall('get', watch_of(key)) == client then
    redis.pcall('del', watch_of(key))
  end
end

-- A free resource is passed on: it is reserved for a moment for who is first in the queue, and is taken out of it. A
-- reservation is no vote: the client has to ask like everybody else. Somebody has to notice if it hangs: who is last.
local function pass_on(key, milliseconds)
  local queue = 'redlock:node:queue:' .. key
  for _ = 1, 64 do
    local heir = redis.pcall('zrange', queue, 0, 0)[1]
    if not heir or heir == '' then
      break
    end
    if string.sub(heir, 1, 1) == '+' then
      return notify(key)
    end
    redis.pcall('zrem', queue, heir)
    if publish(heir, 0, key) ~= 0 then
      redis.pcall('set', key, 'redlock:next:' .. heir, 'PX', milliseconds)
      stop_watching(key, heir)
      local watcher = redis.pcall('zrevrange', queue, 1, 1)[1]
      if watcher and type(redis.pcall('set', watch_of(key), watcher, 'NX', 'PX', milliseconds)) == 'table' then
        publish(watcher, 1, key)
      end
      break
    end
  end
  still_awaited()
end

local function is_awaited()
  return redis.pcall('del', 'redlock:node:awaited') == 1
end
