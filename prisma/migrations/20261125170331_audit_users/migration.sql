-- Only what people change leads to an event; the columns that calls change cost them nothing.
CREATE CONSTRAINT TRIGGER audit_users AFTER INSERT OR DELETE OR UPDATE OF
  username, username_key, password_hash, role, status, token_epoch, max_api_calls, quota_period
ON users DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION audit_change(
  'user', 'username', 'role', 'status', 'token_epoch', 'max_api_calls', 'quota_period');
