-- keys: resources...
-- args: token, ttl_ms, repair
-- Extends the locks of the token. `repair` says how a node that lost them gets them back: '' not at all, 'key' as
-- keys of their own, else as a hold of the group of that name.
-- Returns 1: ours, and they now live at least that long; {1, holds}: the same of a hold; 2: something was gone and is
-- ours again; 0: gone; -1: not ours.
local call = redis.call

-- with: expiry
-- The usual case, ahead of functions that cost the node time to define.
if #keys.resources == 1 and redis.pcall('get', keys.resources[1]) == args.token then
  raise(keys.resources[1], args.ttl_ms)
  return 1
end

-- with: holds
-- with: possession
local holding, gone = nil, {}
for i = 1, #keys.resources do
  local what, other = look(keys.resources[i], args.token, args.repair, #keys.resources == 1)
  if not what then
    return other
  elseif what == 'hold' then
    holding = other
  elseif what == 'gone' then
    gone[#gone + 1] = keys.resources[i]
  end
end
if #gone > 0 and args.repair == '' then
  return 0
end
if holding then
  local ends = milliseconds() + args.ttl_ms
  if tonumber(call('zscore', keys.resources[1], 'hold:' .. args.token)) < ends then
    call('zadd', keys.resources[1], string.format('%.0f', ends), 'hold:' .. args.token)
    expire_with_last(keys.resources[1])
  end
  return {1, holding}
end
for _, key in ipairs(gone) do
  if args.repair == 'key' then
    call('set', key, args.token, 'PX', args.ttl_ms)
  else
    share(key, args.repair, args.token, milliseconds() + args.ttl_ms)
  end
end
for i = 1, #keys.resources do
  raise(keys.resources[i], args.ttl_ms)
end
return #gone > 0 and 2 or 1
