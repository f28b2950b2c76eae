import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Answer, Refusal } from '../serving/answer.ts'
import type { RequestContext, Routes } from '../serving/http-server.ts'
import { listFiles } from '../serving/list-files.ts'
import { asText } from '../serving/narrow.ts'
import { appOf, endUser, hasFlow, USER_MISSING, WRONG_APP } from './apps.ts'
import { difyError, difyJson } from './errors.ts'
import type { DifyFiles } from './files.ts'
import type { FlowRun, FlowRuns } from './flow-runs.ts'
import { checkActive, checkSubmission, type Form, formDefinition } from './human-input.ts'

/** The routes by which a client answers a paused run, and reads the rest of it. */
export function humanInputRoutes(flows: FlowRuns, files: DifyFiles): Routes {
  /** Streams what a run says from now on, to the user who began it. */
  function listen(context: RequestContext): Promise<void> {
    const kind = appOf(context)
    const user = context.query.get('user')
    if (!user) throw new Refusal(USER_MISSING)
    if (!hasFlow(kind)) throw new Refusal(WRONG_APP.workflow)
    const flow = flows.find(context.params.run ?? '')
    if (flow?.details.kind !== kind || flow.details.user !== user)
      throw new Refusal(difyError(404, 'not_found', 'Workflow run not found'))
    flow.listen(context.response)
    return Promise.resolve()
  }

  function findForm(context: RequestContext): { readonly flow: FlowRun; readonly form: Form } {
    const kind = appOf(context)
    const found = flows.findForm(context.params.token ?? '')
    if (found?.flow.details.kind === kind) return found
    throw new Refusal(difyError(404, 'not_found', 'Form not found'))
  }

  function showForm(context: RequestContext): Answer {
    const { form } = findForm(context)
    checkActive(form)
    return difyJson(200, formDefinition(form))
  }

  /** Anyone whom the app's key lets in may submit, not only the user who began the run. */
  async function submitForm(context: RequestContext): Promise<Answer> {
    const { body, response } = context
    const kind = appOf(context)
    const user = asText(body.user)
    if (!user) throw new Refusal(USER_MISSING)
    const { flow, form } = findForm(context)
    checkActive(form)
    const { action, inputs, files: sent } = checkSubmission(form, body, files, endUser(kind, user))
    const shown: Record<string, unknown> = { ...inputs }
    for (const [name, list] of Object.entries(sent))
      shown[name] = (await listFiles(list, response)).join(', ')
    // Another answer may have come while the files were read.
    checkActive(form)
    const rest = flow.answer(form, { action, inputs, shown }).catch((error: unknown) => console.error(error))
    // The run goes on in a process of its own, which may be faster than the response.
    await (flow.details.faults.has('sandbox:eager') ? rest : nextTurn())
    return difyJson(200, {})
  }

  return {
    'GET /v1/workflow/:run/events': listen,
    'GET /v1/form/human_input/:token': showForm,
    'POST /v1/form/human_input/:token': submitForm,
  }
}
