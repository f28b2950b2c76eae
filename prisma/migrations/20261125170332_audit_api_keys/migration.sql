-- Only what people change leads to an event; the columns that calls change cost them nothing.
CREATE CONSTRAINT TRIGGER audit_api_keys AFTER INSERT OR DELETE OR UPDATE OF
  hash, name, description, permissions, allowed_agents, chat_per_minute, upload_per_minute, owner_id, expires_at, revoked_at,
  total_baseline, day_baseline, month_baseline
ON api_keys DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION audit_change(
  'api_key', 'prefix', 'name', 'description', 'permissions', 'allowed_agents', 'chat_per_minute', 'upload_per_minute', 'owner_id', 'created_by_id', 'expires_at', 'revoked_at', 'total_baseline', 'day_baseline', 'month_baseline');
