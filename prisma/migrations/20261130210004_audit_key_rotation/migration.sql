DROP TRIGGER audit_api_keys ON api_keys;

-- Only what people change leads to an event; the columns that calls change cost them nothing.
CREATE CONSTRAINT TRIGGER audit_api_keys AFTER INSERT OR DELETE OR UPDATE OF
  hash, name, description, permissions, allowed_agents, allowed_addresses, chat_per_minute, upload_per_minute, owner_id, expires_at,
  revoked_at, paused_at, is_paused_by_admin, previous_ends_at, total_baseline, day_baseline, month_baseline
ON api_keys DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION audit_change(
  'api_key', 'prefix', 'name', 'description', 'permissions', 'allowed_agents', 'allowed_addresses', 'chat_per_minute', 'upload_per_minute', 'owner_id', 'created_by_id', 'expires_at', 'revoked_at', 'paused_at', 'is_paused_by_admin', 'previous_prefix', 'previous_ends_at', 'rotated_at', 'total_baseline', 'day_baseline', 'month_baseline');
