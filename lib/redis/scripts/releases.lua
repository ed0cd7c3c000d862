-- KEYS: resources. ARGV: their tokens, and for how many milliseconds a free resource is reserved for who is first in its
-- queue; without this one, for 20: what everybody says near the nodes is not said, as each word costs the node time.
-- What release.lua does, for many locks in one call, which costs the node a fraction of as many calls: locks of one
-- resource that nobody shares, without an interval. How many were deleted: none is there. Else of each 1: deleted;
-- 0: there is nothing; -1: not ours.
-- pcall, because every error (NOPERM, READONLY, ...) must reach the caller word for word.
local pcall = redis.pcall

-- One alone, as most often where few locks are in use: its commands cost the node less without a table of answers.
if
  #KEYS == 1
  and pcall('get', KEYS[1]) == ARGV[1]
  and pcall('exists', 'redlock:node:awaited') == 0
then
  return pcall('del', KEYS[1])
end

local found = pcall('mget', 'redlock:node:awaited', unpack(KEYS))
if found.err then
  -- MGET is forbidden: each by itself, as release.lua does.
  found = { pcall('exists', 'redlock:node:awaited') == 1 }
  for i, key in ipairs(KEYS) do
    found[i + 1] = pcall('get', key)
  end
end
local simple = not found[1]
for i = 1, #KEYS do
  simple = simple and found[i + 1] == ARGV[i]
end
if simple then
  return pcall('del', unpack(KEYS))
end

-- with: waiters
local results = {}
for i, key in ipairs(KEYS) do
  if found[i + 1] == ARGV[i] then
    results[i] = found[1] and pass_on(key, ARGV[#KEYS + 1] or '20') and 1 or pcall('del', key)
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
