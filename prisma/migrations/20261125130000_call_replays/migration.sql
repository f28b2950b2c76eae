-- AlterTable
ALTER TABLE "calls" ADD COLUMN     "replays" INTEGER NOT NULL DEFAULT 0;
