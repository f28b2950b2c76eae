-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "allowed_addresses" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "is_paused_by_admin" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "paused_at" TIMESTAMPTZ(3),
ADD COLUMN     "previous_ends_at" TIMESTAMPTZ(3),
ADD COLUMN     "previous_hash" BYTEA,
ADD COLUMN     "previous_prefix" TEXT,
ADD COLUMN     "previous_used_at" TIMESTAMPTZ(3),
ADD COLUMN     "restricted_at" TIMESTAMPTZ(3),
ADD COLUMN     "rotated_at" TIMESTAMPTZ(3),
ADD COLUMN     "secret_used_at" TIMESTAMPTZ(3);
