-- A token of one of our clients begins with the client's id; '': the token of another library.
local function client_of(token)
  local digits = string.match(token, '^[0-9a-f]+')
  local is_ours = digits and #digits == 40 and (#token == 40 or string.sub(token, 41, 41) == ':')
  return is_ours and string.sub(digits, 1, 16) or ''
end
-- The client's name for people; '': the node has none, or the user has no right to it.
local function name_of(client)
  local name = client ~= '' and redis.pcall('get', 'redlock:node:client:' .. client)
  return type(name) == 'string' and string.sub(name, 1, 128) or ''
end
