import type { DocumentNode, GraphQLError, GraphQLSchema } from 'graphql'
import { graphqlErrorOf, problemBehind } from '../errors.ts'
import { createValidation } from './validate-document.ts'

/** What is wrong with documents. This is the only place that keeps it, so that no other can remember half of it. */
export type DocumentVerdicts = ReturnType<typeof createVerdicts>

/** Judges each document once for as long as it is kept: the admission keeps those that come again and again. */
export function createVerdicts(schema: GraphQLSchema, showsSchema: boolean) {
  const validate = createValidation(showsSchema)
  const verdicts = new WeakMap<DocumentNode, Verdict>()
  const verdictOf = (document: DocumentNode): Verdict => {
    const known = verdicts.get(document)
    if (known !== undefined) return known
    const errors = validate(schema, document)
    const areOfLiterals = errors.every((error) => problemBehind(error)?.field !== undefined)
    const verdict = { errors, areOfLiterals }
    verdicts.set(document, verdict)
    return verdict
  }
  return {
    /** Why a document is refused whatever its variables are; empty if nothing but its literals is wrong, or nothing at all. */
    refusalsOf(document: DocumentNode): readonly GraphQLError[] {
      const { errors, areOfLiterals } = verdictOf(document)
      return areOfLiterals ? [] : errors.map(madeAnew)
    },
    /** The mistakes in the literals of a document that has no others. They are reported with those of the variables. */
    wrongLiteralsOf(document: DocumentNode): readonly GraphQLError[] {
      const { errors, areOfLiterals } = verdictOf(document)
      return areOfLiterals ? errors : []
    },
  }
}

interface Verdict {
  readonly errors: readonly GraphQLError[]
  readonly areOfLiterals: boolean
}

/** The errors of a response are given the id of its request, so that two requests cannot share one. */
function madeAnew(error: GraphQLError): GraphQLError {
  const problem = problemBehind(error)
  return problem === undefined ? error : graphqlErrorOf(problem, { at: { nodes: error.nodes } })
}
