-- Only what people change leads to an event; the columns that calls change cost them nothing.
CREATE CONSTRAINT TRIGGER audit_signing_keys AFTER INSERT OR DELETE OR UPDATE OF
  public_jwk, sealed, secret, retired_at
ON signing_keys DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION audit_change(
  'signing_key', 'created_at', 'retired_at', 'sealed');
