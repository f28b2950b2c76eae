-- AlterTable
ALTER TABLE "rollups" ADD COLUMN     "rated_down" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "rated_up" BIGINT NOT NULL DEFAULT 0;
