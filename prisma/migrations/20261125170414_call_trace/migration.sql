-- AlterTable
ALTER TABLE "calls" ADD COLUMN     "attempt_list" JSONB,
ADD COLUMN     "trace_id" TEXT;
