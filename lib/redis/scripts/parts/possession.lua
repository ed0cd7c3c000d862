-- Returns what the node has of a lock: 'ours'; 'gone'; or 'hold', with the number of holds and their group. Otherwise
-- returns nil and the script's answer. `kind` is an argument of extend.lua. Holds are searched only for the single
-- resource of a call (`alone`), and not for an exclusive lock ('key'): if its token has a hold, somebody else has
-- downgraded the lock by the token.
local function possession_of(key, token, kind, alone)
  local value = redis.pcall('get', key)
  if not value then
    return 'gone'
  elseif value == token then
    return 'ours'
  -- A key of another type is somebody else's; every other error must reach the caller word for word.
  elseif type(value) ~= 'table' then
    return nil, -1
  elseif not string.find(value.err, 'WRONGTYPE', 1, true) then
    return nil, value
  elseif redis.call('type', key).ok ~= 'zset' then
    return nil, -1
  end
  local whose, holds, writer, reserved, keeper = read_holds(key, milliseconds())
  if not whose then
    return nil, -1
  elseif alone and kind ~= 'key' and redis.call('zscore', key, 'hold:' .. token) then
    return 'hold', leases_of(holds, keeper), whose
  elseif keeper or (whose ~= kind and (holds > 0 or reserved)) then
    return nil, -1
  elseif writer and kind == 'shared' then
    -- The hold may return after the writer has had the resource.
    return nil, 0
  end
  return 'gone'
end
