import type { ServerResponse } from 'node:http'
import { describeAnswer } from '../replies/describe-answer.ts'
import type { Faults } from '../replies/faults.ts'
import { splitFragments } from '../replies/fragments.ts'
import { languageOf } from '../replies/language.ts'
import { type Playback, playRest, type Script } from '../replies/player.ts'
import type { Run, Runs } from '../serving/runs.ts'
import type { Form, Submission } from './human-input.ts'
import { Topic } from './topic.ts'
import type { FlowPart } from './workflow-script.ts'

/** What a run that pauses needs to go on without the request that began it. */
interface FlowDetails {
  /** The kind of app whose run it is. */
  readonly kind: string
  readonly user: string
  readonly workflowRunId: string
  /** The forms of each pause. */
  readonly pauses: readonly (readonly Form[])[]
  readonly faults: Faults
  /** The text after the last pause. */
  readonly fragments: readonly string[]
  readonly playback: Pick<Playback, 'serverError' | 'delayMs'>
  script(part: FlowPart): Script
  /** The event that tells of a run that has ended. */
  finished(run: Run): string
}

const HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }
const PING = 'event: ping\n\n'

/** A run of a chatflow or workflow app that pauses. */
export class FlowRun {
  readonly details: FlowDetails
  readonly run: Run
  readonly #runs: Runs
  readonly #topic = new Topic()
  /** The parts are played one after the other, also if the forms of two branches are submitted at once. */
  #playing: Promise<void> | undefined
  #pause = 0
  /** Submitted forms whose branch has not gone on yet. */
  #submitted: Form[] = []
  /** A stop call came while the run was paused. */
  #isStopped = false

  constructor(details: FlowDetails, run: Run, runs: Runs) {
    this.details = details
    this.run = run
    this.#runs = runs
  }

  /** The part before the first pause. */
  get firstPart(): FlowPart {
    return { answered: [], waiting: this.#waiting() }
  }

  listen(response: ServerResponse): void {
    const { state } = this.run
    if (state === 'running' || state === 'paused') this.#topic.listen(response, HEADERS, PING)
    else response.writeHead(200, HEADERS).end(this.details.finished(this.run))
  }

  /**
   * A paused run has no process that a stop call could reach, so that the run stays paused and its form open. The call waits
   * for the next part of the run, and ends it when it begins.
   */
  stop(): void {
    this.#isStopped = true
  }

  /** Goes on at once. Resolves at the next pause or the end. */
  async answer(form: Form, submission: Submission): Promise<void> {
    form.submission = submission
    this.#submitted.push(form)
    while (this.#playing) await this.#playing
    if (this.#submitted.length === 0) return
    const playing = this.#play()
    this.#playing = playing.finally(() => {
      this.#playing = undefined
    })
    await this.#playing
  }

  #waiting(): readonly Form[] {
    return (this.details.pauses[this.#pause] ?? []).filter(({ submission }) => !submission)
  }

  async #play(): Promise<void> {
    const { script, faults, fragments, playback } = this.details
    const answered = this.#submitted
    this.#submitted = []
    if (this.#waiting().length === 0) this.#pause++
    const waiting = this.#waiting()
    const play = script({ answered, waiting })
    for (const { submission } of answered) {
      this.#runs.resume(this.run, submission && { action: submission.action.id, inputs: submission.inputs })
    }
    if (this.#isStopped) {
      this.run.settle('stopped')
      this.run.finish()
      return this.#topic.end(play.opening() + play.closing(this.run.text, 'stopped'))
    }
    const pauses = waiting.length > 0
    return playRest(this.#topic.begin(), {
      ...playback,
      run: this.run,
      script: play,
      fragments: pauses ? [] : [...this.#describe(), ...fragments],
      faults,
      pauses,
    })
  }

  #describe(): readonly string[] {
    const language = languageOf(this.details.faults.question)
    return this.details.pauses.flat().flatMap(({ submission }) => {
      if (!submission) return []
      const { action, shown } = submission
      return splitFragments(describeAnswer(language, { chosen: action.title, fields: shown }))
    })
  }
}

const FLOWS_MAX = 10_000

/** The runs of one emulator that have paused. The oldest is dropped when there are more than 10,000. */
export class FlowRuns {
  readonly #flows = new Map<string, FlowRun>()
  readonly #byTask = new Map<string, FlowRun>()
  readonly #byToken = new Map<string, { readonly flow: FlowRun; readonly form: Form }>()

  add(flow: FlowRun): void {
    this.#flows.set(flow.details.workflowRunId, flow)
    this.#byTask.set(flow.run.id, flow)
    for (const form of formsOf(flow)) this.#byToken.set(form.token, { flow, form })
    const oldest = this.#flows.values().next()
    if (this.#flows.size > FLOWS_MAX && !oldest.done) this.#drop(oldest.value)
  }

  find(workflowRunId: string): FlowRun | undefined {
    return this.#flows.get(workflowRunId)
  }

  findByTask(taskId: string): FlowRun | undefined {
    return this.#byTask.get(taskId)
  }

  findForm(token: string): { readonly flow: FlowRun; readonly form: Form } | undefined {
    return this.#byToken.get(token)
  }

  #drop(flow: FlowRun): void {
    this.#flows.delete(flow.details.workflowRunId)
    this.#byTask.delete(flow.run.id)
    for (const { token } of formsOf(flow)) this.#byToken.delete(token)
  }
}

/** The forms that the API may be asked for. */
function formsOf({ details }: FlowRun): readonly Form[] {
  return details.pauses.flat().filter(({ isTold }) => isTold)
}
