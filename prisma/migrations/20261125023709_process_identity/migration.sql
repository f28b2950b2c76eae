-- AlterTable
ALTER TABLE "instances" ADD COLUMN     "host" TEXT,
ADD COLUMN     "pid" INTEGER,
ADD COLUMN     "version" TEXT;

-- CreateTable
CREATE TABLE "maintenance" (
    "id" INTEGER NOT NULL,
    "holder" UUID NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "orphans_at" TIMESTAMPTZ(3),
    "drifts" INTEGER,
    "drift_checked_at" TIMESTAMPTZ(3),

    CONSTRAINT "maintenance_pkey" PRIMARY KEY ("id")
);
