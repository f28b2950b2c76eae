-- AlterTable
ALTER TABLE "refusals" ADD COLUMN     "limit_of" TEXT,
ADD COLUMN     "limit_points" INTEGER,
ADD COLUMN     "limit_window_seconds" INTEGER;
