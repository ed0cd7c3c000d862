-- The queue of a resource is a sorted set of clients, by ticket. The score of its member '' is the next new ticket,
-- which is above all others. A '~' precedes the id of a reader: a client that can share the resource with other
-- readers.
-- Queues the client unless it is queued already, and removes its entry as a reader. A ticket is raised, never lowered;
-- '0' is a new one. Returns the ticket.
local function enqueue(key, client, ticket, remember)
  local queue = 'redlock:node:queue:' .. key
  local mine = tonumber(redis.call('zscore', queue, client))
  local wanted = math.max(math.min(tonumber(ticket), 4503599627370496), mine or 0)
  if wanted == 0 or wanted ~= mine then
    local free = tonumber(redis.call('zscore', queue, '')) or 1
    if wanted == 0 then
      wanted = free
    end
    if wanted >= free then
      redis.call('zadd', queue, wanted, client, wanted + 1, '')
    else
      redis.call('zadd', queue, wanted, client)
    end
    if not mine then
      redis.call('zrem', queue, '~' .. client)
    end
  end
  -- The queue and the waiting flag are renewed together, now and then, not by every call. The flag outlives each queue,
  -- also one that was renewed before the node's clock was set back.
  if redis.call('pttl', queue) < 0.85 * remember then
    redis.call('pexpire', queue, remember)
    if redis.call('pttl', 'redlock:node:awaited') < tonumber(remember) then
      redis.call('set', 'redlock:node:awaited', '', 'PX', remember)
    end
  end
  return wanted
end

-- The first client in the queue; '' if nobody is queued.
local function first_in_queue(key)
  return redis.call('zrange', 'redlock:node:queue:' .. key, 0, 0)[1] or ''
end
