-- AlterTable
ALTER TABLE "calls" ADD COLUMN     "stop_requested_at" TIMESTAMPTZ(3);
