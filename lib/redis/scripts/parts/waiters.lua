-- A client that waits for a resource is queued, and subscribed to a channel of its own. A mark says that clients wait. No
-- error of this may reach the caller: the resource is released already, or about to be.

-- '~' is before the id of a reader.
local function id_of(member)
  return (string.gsub(member, '^~', ''))
end

local function is_reader(member)
  return member ~= nil and string.sub(member, 1, 1) == '~'
end

-- 0: it is not subscribed any more.
local function publish(member, before, key)
  return redis.pcall('publish', 'redlock:wake:' .. id_of(member), before .. key)
end

-- Clients that wait for a permit of a semaphore are queued under the beginning of its permits' names: "jobs#" for
-- "jobs#0", "jobs#1", … Nothing else is kept there.
local function any_permit_of(key)
  return string.match(key, '^(.*#)%d+$')
end

-- Publishes to who has that position in the queue, counted from the front ('zrange') or from the back ('zrevrange'), and
-- answers who that is; nil: nobody. Clients that have gone are taken out, however many: each was queued by a message of
-- its own, and the node had more to do when their connections ended.
local function tell(queue, command, position, before, key)
  while true do
    local member = redis.pcall(command, queue, position, position)[1]
    if not member or member == '' then
      return nil
    elseif publish(member, before, key) ~= 0 then
      return member
    elseif redis.pcall('zrem', queue, member) ~= 1 then
      return nil
    end
  end
end

-- The key of a resource that others may have soon, or share, is not free: who is first in the queue is notified and, in
-- case that one has gone, the second. If nobody is queued for this permit, those are who wait for any of the semaphore.
local function notify(key)
  local queue = 'redlock:node:queue:' .. key
  if tell(queue, 'zrange', 0, 0, key) then
    tell(queue, 'zrange', 1, 1, key)
    return
  end
  local any = any_permit_of(key)
  if any then
    notify(any)
  end
end

-- The client that was notified to watch whether the next one hangs. Another one has to, if that is the next itself, or
-- leaves.
local function stop_watching(key, client)
  local watch = 'redlock:node:watch:' .. key
  local watching = redis.pcall('get', watch)
  if watching and id_of(watching) == client then
    redis.pcall('del', watch)
  end
end

-- Readers that are first in the queue are let in together, up to the first client that is none, and beside those that
-- hold the resource. That next client has new readers refused, for longer than it sleeps; it may hang. After so many, the
-- next of those that were let in goes on as it comes: see enter.lua.
local function let_in_readers(key, milliseconds)
  local queue, admitted = 'redlock:node:queue:' .. key, 'redlock:node:next:' .. key
  local time = redis.pcall('time')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local first = redis.pcall('zrange', queue, 0, 0)[1]
  for _ = 1, 64 do
    if not is_reader(first) then
      break
    end
    redis.pcall('zpopmin', queue)
    if publish(first, 0, key) ~= 0 then
      redis.pcall('zadd', admitted, 0, id_of(first))
    end
    first = redis.pcall('zrange', queue, 0, 0)[1]
  end
  if redis.pcall('pexpire', admitted, milliseconds) == 1 then
    redis.pcall('zadd', key, 0, 'group:shared', string.format('%.0f', now + milliseconds), 'next')
  end
  if first and first ~= '' and not is_reader(first) then
    redis.pcall('zadd', key, string.format('%.0f', now + math.max(4000, milliseconds)), 'writer')
  end
  -- A node that is out of memory has written nothing.
  local last = redis.pcall('zrevrange', key, 0, 0, 'withscores')
  if last[2] then
    redis.pcall('pexpireat', key, string.format('%.0f', last[2]))
  end
end

-- The resource is for readers now. `reader` was taken out of the queue and notified.
local function pass_on_to_readers(key, reader, milliseconds)
  local admitted = 'redlock:node:next:' .. key
  redis.pcall('del', key, admitted)
  redis.pcall('zadd', admitted, 0, id_of(reader))
  let_in_readers(key, milliseconds)
end

-- Somebody has to notice if the next one hangs: who is last in the queue, and for a while that one; unless it waits no
-- more.
local function keep_watch(key, milliseconds)
  local queue, watch = 'redlock:node:queue:' .. key, 'redlock:node:watch:' .. key
  local watching = redis.pcall('get', watch)
  if watching and redis.pcall('zscore', queue, watching) then
    return
  end
  -- Behind it there is only the next ticket.
  local last = tell(queue, 'zrevrange', 1, 1, key)
  if last then
    redis.pcall('set', watch, last, 'PX', milliseconds)
  elseif watching then
    redis.pcall('del', watch)
  end
end

-- A free resource is passed on: it is reserved for a moment for who is first in the queue, and is taken out of it. A
-- reservation is no vote: the client has to ask like everybody else. A permit is passed on to who is first for any of its
-- semaphore.
-- For whom it is reserved, or false: the key is that then, whatever it was.
local function pass_on(key, milliseconds)
  local name = key
  local successor = tell('redlock:node:queue:' .. key, 'zrange', 0, 0, key)
  if not successor then
    name = any_permit_of(key)
    successor = name and tell('redlock:node:queue:' .. name, 'zrange', 0, 0, key)
  end
  if not successor then
    return false
  end
  local queue = 'redlock:node:queue:' .. name
  local reserved = true
  redis.pcall('zrem', queue, successor)
  if is_reader(successor) then
    pass_on_to_readers(key, successor, milliseconds)
  else
    reserved = redis.pcall('set', key, 'redlock:next:' .. successor, 'PX', milliseconds).ok ~= nil
  end
  keep_watch(name, milliseconds)
  return reserved and successor
end

local function is_awaited()
  return redis.pcall('exists', 'redlock:node:awaited') == 1
end
