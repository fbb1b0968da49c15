"""The chapters and labs as files: run, styled, linked; how far a learner is; what is fit and what is not."""
