-- keys: resources...
-- args: tokens..., ttl_ms
-- Does what extend.lua does with `kind` 'key' and without `repair`, for many locks: each has one resource, and nobody
-- shares it. One call costs the node half of what as many calls would.
-- Returns the number of locks if all are ours and now live at least `ttl_ms`. Otherwise returns for each lock 1: ours,
-- and it now lives at least `ttl_ms`; 0: gone; -1: not ours.

-- pcall, because every error (NOPERM, READONLY, ...) must reach the caller word for word.
local pcall = redis.pcall

-- with: expiry
-- One lock alone, the usual case if few are in use, needs no table of answers.
if #keys.resources == 1 and pcall('get', keys.resources[1]) == args.tokens[1] then
  raise(keys.resources[1], args.ttl_ms)
  return 1
end

local found = pcall('mget', unpack(keys.resources))
local ours = not found.err
for i = 1, #keys.resources do
  ours = ours and found[i] == args.tokens[i]
end
if ours then
  for i = 1, #keys.resources do
    raise(keys.resources[i], args.ttl_ms)
  end
  return #keys.resources
end

-- with: holds
-- with: possession
local results = {}
for i, key in ipairs(keys.resources) do
  local what, other = possession_of(key, args.tokens[i], 'key', false)
  if what == 'ours' then
    raise(key, args.ttl_ms)
    results[i] = 1
  else
    results[i] = what and 0 or other
  end
end
return results
