import { expect, test } from 'vitest'
import { readMigrations } from './migration-files.ts'
import { brokenRules } from './migration-rules.ts'

const BASELINE = '20261125000000_baseline'

const broken = (script: string, earlier = BASELINE) =>
  brokenRules([
    { name: earlier, script: 'CREATE TABLE "calls" ("id" UUID)' },
    { name: '20270101000000_next', script },
  ])
const setMinBuild = (name: string) =>
  `INSERT INTO "settings" (name, value) VALUES ('min_build', '${name}')
     ON CONFLICT (name) DO UPDATE SET value = greatest(settings.value, excluded.value);`

test('the migrations of this version can run while calls go on, and beside the version before', async () => {
  const { migrationDirectories } = await readMigrations()
  const migrations = migrationDirectories.map(({ path, migrationFile: { content } }) => ({
    name: path,
    script: content.tag === 'ok' ? content.value : '',
  }))
  expect(migrations[0]?.name).toBe(BASELINE)
  expect(brokenRules(migrations)).toEqual([])
})

test.each([
  ['ALTER TABLE "calls" ADD COLUMN "region" TEXT'],
  [
    '-- a note; with a semicolon\nALTER TABLE "calls" ADD COLUMN "region" TEXT NOT NULL DEFAULT \'\', ADD COLUMN "n" INT',
  ],
  ['CREATE TABLE "new" ("id" UUID NOT NULL); CREATE UNIQUE INDEX "new_id" ON "new"("id")'],
  [
    'CREATE TABLE "new" ("id" UUID); ALTER TABLE "new" ADD CONSTRAINT "f" FOREIGN KEY ("id") REFERENCES "users"("id")',
  ],
  ['CREATE INDEX CONCURRENTLY "calls_region" ON "calls"("region");'],
  ['-- The index of what is gone.\nDROP INDEX CONCURRENTLY "calls_region"'],
  [
    "-- slices\nUPDATE calls SET region = '' WHERE id IN (SELECT id FROM calls WHERE id > $1 LIMIT 1000) RETURNING id",
  ],
  [`${setMinBuild(BASELINE)} ALTER TABLE "calls" DROP COLUMN "region"`],
  [`${setMinBuild(BASELINE)} ALTER TABLE "calls" ADD CONSTRAINT "c" CHECK (region <> '') NOT VALID`],
  ['ALTER TABLE "calls" VALIDATE CONSTRAINT "c"'],
  [setMinBuild(BASELINE)],
  ['DROP TRIGGER t ON calls; CREATE CONSTRAINT TRIGGER t AFTER INSERT ON calls EXECUTE FUNCTION f()'],
])('%s is allowed', (script) => {
  expect(broken(script)).toEqual([])
})

test('a unique index is allowed if the migration before it keeps older processes away', () => {
  const script = 'CREATE UNIQUE INDEX CONCURRENTLY "u" ON "calls"("region")'
  const before = { name: '20261231000000_before', script: setMinBuild(BASELINE) }
  const baseline = { name: BASELINE, script: '' }
  expect(brokenRules([baseline, before, { name: '20270101000000_next', script }])).toEqual([])
})

test.each([
  ['ALTER TABLE "calls" DROP COLUMN "region"', 'set min_build'],
  ['DROP TABLE "calls"', 'set min_build'],
  ['DROP TRIGGER t ON calls; CREATE TRIGGER u AFTER INSERT ON calls EXECUTE FUNCTION f()', 'set min_build'],
  ['DROP TRIGGER t ON calls; CREATE TRIGGER t AFTER INSERT ON users EXECUTE FUNCTION f()', 'several tables'],
  ['ALTER TABLE "calls" RENAME COLUMN "app" TO "application"', 'set min_build'],
  ['ALTER TABLE "calls" ALTER COLUMN "app" DROP DEFAULT', 'set min_build'],
  ['ALTER TABLE "calls" ADD CONSTRAINT "c" CHECK (region <> \'\') NOT VALID', 'set min_build'],
  [`${setMinBuild('20270101000000_next')} ALTER TABLE "calls" DROP COLUMN "a"`, 'not an earlier migration'],
  [`${setMinBuild('20261231000000_none')} ALTER TABLE "calls" DROP COLUMN "a"`, 'not an earlier migration'],
  ['ALTER TABLE "calls" ADD COLUMN "region" TEXT NOT NULL', 'needs a DEFAULT'],
  [
    'ALTER TABLE "calls" ADD COLUMN "a" TEXT NOT NULL DEFAULT \'\', ADD COLUMN "b" INT NOT NULL',
    'needs a DEFAULT',
  ],
  ['ALTER TABLE "calls" ADD COLUMN "region" UUID DEFAULT gen_random_uuid()', 'rewrites the table'],
  ['ALTER TABLE "calls" ALTER COLUMN "app" SET DATA TYPE VARCHAR(10)', 'rewrites the table'],
  ['ALTER TABLE "calls" ALTER COLUMN "app" SET NOT NULL', 'reads the whole table'],
  [`${setMinBuild(BASELINE)} ALTER TABLE "calls" ADD CONSTRAINT "c" CHECK (region <> '')`, 'NOT VALID'],
  ['CREATE INDEX "calls_region" ON "calls"("region")', 'CONCURRENTLY'],
  ['DROP INDEX "calls_region"', 'CONCURRENTLY'],
  ['CREATE UNIQUE INDEX CONCURRENTLY "u" ON "calls"("region")', 'refuses what an older process'],
  [
    'CREATE INDEX CONCURRENTLY "a" ON "calls"("a"); CREATE INDEX CONCURRENTLY "b" ON "calls"("b")',
    'of its own',
  ],
  ['UPDATE "calls" SET "region" = \'\'', 'in slices'],
  ["-- slices\nUPDATE calls SET region = ''", 'a slice begins after $1'],
  ['ALTER TABLE "calls" ADD COLUMN "a" INT; ALTER TABLE "users" ADD COLUMN "a" INT', 'several tables'],
  [
    'ALTER TABLE "calls" ADD COLUMN "a" INT; CREATE TABLE "n" ("a" UUID REFERENCES "users"("id"))',
    'several tables',
  ],
  ['CREATE TYPE "region" AS ENUM (\'east\')', 'words are text'],
  ['BEGIN; ALTER TABLE "calls" ADD COLUMN "a" INT; COMMIT', 'chooses transactions'],
])('%s is not: %s', (script, mistake) => {
  expect(broken(script).join('\n')).toContain(mistake)
})
