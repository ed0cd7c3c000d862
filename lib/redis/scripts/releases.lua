-- keys: resources...
-- args: tokens..., reservation_ms?
-- Does what release.lua does, for many locks: each has one resource, nobody shares it, and it has no interval. One call
-- costs the node a fraction of what as many calls would. `reservation_ms` is 20 if it is left out: each word costs the
-- node time.
-- Returns how many were deleted if none of the resources is left. Otherwise returns for each lock 1: deleted; 0: there
-- is nothing; -1: not ours.

-- pcall, because every error (NOPERM, READONLY, ...) must reach the caller word for word.
local pcall = redis.pcall

-- One lock alone, the usual case if few are in use, costs the node less without a table of answers.
if
  #keys.resources == 1
  and pcall('get', keys.resources[1]) == args.tokens[1]
  and pcall('exists', 'redlock:node:awaited') == 0
then
  return pcall('del', keys.resources[1])
end

local found = pcall('mget', 'redlock:node:awaited', unpack(keys.resources))
if found.err then
  -- MGET is forbidden: reads each key by itself, as release.lua does.
  found = { pcall('exists', 'redlock:node:awaited') == 1 }
  for i, key in ipairs(keys.resources) do
    found[i + 1] = pcall('get', key)
  end
end
local simple = not found[1]
for i = 1, #keys.resources do
  simple = simple and found[i + 1] == args.tokens[i]
end
if simple then
  return pcall('del', unpack(keys.resources))
end

-- with: waiters
local results = {}
for i, key in ipairs(keys.resources) do
  if found[i + 1] == args.tokens[i] then
    results[i] = found[1] and pass_on(key, args.reservation_ms or '20') and 1 or pcall('del', key)
  elseif type(found[i + 1]) == 'table' and not found[i + 1].err:find('^WRONGTYPE') then
    results[i] = found[i + 1]
  elseif found[i + 1] then
    results[i] = -1
  else
    -- A key of another type is somebody else's.
    results[i] = pcall('exists', key) == 1 and -1 or 0
  end
end
return results
