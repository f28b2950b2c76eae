-- AlterTable
ALTER TABLE "calls" ADD COLUMN     "attempts" SMALLINT,
ADD COLUMN     "deployment" TEXT,
ADD COLUMN     "queued_ms" INTEGER;
