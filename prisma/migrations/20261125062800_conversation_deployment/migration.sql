-- AlterTable
ALTER TABLE "conversations" ADD COLUMN     "deployment" TEXT,
ADD COLUMN     "state" TEXT;
