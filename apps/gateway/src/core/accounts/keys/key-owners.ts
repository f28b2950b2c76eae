/**
 * The ids and owners of all keys, as a subquery: also of those whose records were removed (key-sweep.ts), because reports keep
 * their sums.
 */
export const KEY_OWNERS = `(
  SELECT id, owner_id FROM api_keys UNION ALL SELECT id, owner_id FROM removed_api_keys)`
