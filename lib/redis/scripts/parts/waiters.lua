-- A client that waits for a resource is queued, and subscribed to a channel of its own. The waiting flag says that
-- clients wait. No error of these functions may reach the caller: the resource is released already, or about to be.

-- In a queue, a '~' precedes the id of a reader.
local function id_of(member)
  return (string.gsub(member, '^%??~?', ''))
end

local function is_reader(member)
  return member ~= nil and string.sub(member, 1, 1) == '~'
end

-- Returns 0 if the client is no longer subscribed.
local function publish(member, before, key)
  return redis.pcall('publish', 'redlock:wake:' .. id_of(member), before .. key)
end

-- Clients that wait for a permit of a semaphore are queued under the beginning of its permits' names: "jobs#" for
-- "jobs#0", "jobs#1", … Nothing else is kept there.
local function any_permit_of(key)
  return string.match(key, '^(.*#)%d+$')
end

-- Notifies the client at that queue position, counted from the front ('zrange') or from the back ('zrevrange'), and
-- returns it; nil: nobody. Removes clients that have gone, however many: each was queued by a message of its own, and
-- the node had more to do when their connections ended.
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

-- Others may soon have the resource, or can share it, but its key is not free: notifies the first client in the queue
-- and, in case that client has gone, the second. If nobody is queued for this permit, notifies those that wait for any
-- permit of the semaphore.
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

-- The client is no longer the standby, who notices a successor that hangs: it is the successor itself, or leaves.
local function stop_watching(key, client)
  local watch = 'redlock:node:watch:' .. key
  local watching = redis.pcall('get', watch)
  if watching and id_of(watching) == client then
    redis.pcall('del', watch)
  end
end

-- Lets in the readers at the front of the queue together, up to the first writer, next to those that hold the resource.
-- New readers are then refused because of that writer, for longer than it sleeps; it may hang. After 64 readers, the
-- next one that enters lets in more: see enter.lua.
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

-- Passes the resource on to readers. `reader` was notified, and removed from the queue.
local function pass_on_to_readers(key, reader, milliseconds)
  local admitted = 'redlock:node:next:' .. key
  redis.pcall('del', key, admitted)
  redis.pcall('zadd', admitted, 0, id_of(reader))
  let_in_readers(key, milliseconds)
end

-- The client has just sent a request, so it does not hang: if it is queued, it is the next standby. A '?' precedes a
-- client that has not been notified yet.
local function stand_by(key, member)
  if redis.pcall('zscore', 'redlock:node:queue:' .. key, member) then
    redis.pcall('set', 'redlock:node:watch:' .. key, '?' .. member, 'PX', 4500)
  end
end

-- Chooses the standby, who notices a successor that hangs: the client that was heard from last, or else the last one in
-- the queue. It remains the standby for `milliseconds`, unless it stops waiting.
local function keep_watch(key, milliseconds)
  local queue, watch = 'redlock:node:queue:' .. key, 'redlock:node:watch:' .. key
  local watching = redis.pcall('get', watch)
  if watching and redis.pcall('zscore', queue, watching) then
    return
  end
  local standby = type(watching) == 'string' and string.match(watching, '^%?(.+)')
  if not standby or not redis.pcall('zscore', queue, standby) or publish(standby, 1, key) == 0 then
    -- Only the member '', the next ticket, comes after the last client.
    standby = tell(queue, 'zrevrange', 1, 1, key)
  end
  if standby then
    redis.pcall('set', watch, standby, 'PX', milliseconds)
  elseif watching then
    redis.pcall('del', watch)
  end
end

-- Passes a free resource on: reserves it for `milliseconds` for the first client in the queue, and removes that client
-- from the queue. A reservation is not a vote: the client still has to ask. A permit passes to the first client that
-- waits for any permit of its semaphore.
-- Returns the client, whose reservation has replaced the key whatever it was, or false.
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
